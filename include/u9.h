/* u9.h: all of libu9. See the headers for what each face offers. */
#ifndef U9_H
#define U9_H

#include <u9/carve.h>
#include <u9/check.h>
#include <u9/clause.h>
#include <u9/cursor.h>
#include <u9/err.h>
#include <u9/follow.h>
#include <u9/generator.h>
#include <u9/guard.h>
#include <u9/id.h>
#include <u9/idgen.h>
#include <u9/index.h>
#include <u9/key.h>
#include <u9/large.h>
#include <u9/log.h>
#include <u9/lookup.h>
#include <u9/mark.h>
#include <u9/merge.h>
#include <u9/repair.h>
#include <u9/scan.h>
#include <u9/snapshot.h>
#include <u9/store.h>
#include <u9/tier.h>
#include <u9/transit.h>
#include <u9/trim.h>
#include <u9/value.h>
#include <u9/value_diff.h>
#include <u9/value_index.h>
#include <u9/value_text.h>
#include <u9/version.h>

#endif
