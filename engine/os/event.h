/*
 * engine/os/event.h: a descriptor that an event loop watches: readable since it was last read. eventfd(2).
 */
#ifndef U9I_EVENT_H
#define U9I_EVENT_H

/* A descriptor, closed on exec and not blocking, or a negative errno. */
int u9i_event_open(void);
void u9i_event_signal(int fd);
void u9i_event_close(int fd);

#endif
