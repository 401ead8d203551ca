/*
 * tests/cxx/test_hpp.cc: u9.hpp compiles as C++17 without warnings and does what it says. A program of its
 * own, as an embedder's would be: it links libu9.a, prints what does not hold, and exits 1 then.
 * argv[1] is an empty folder.
 */
#include <u9.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <thread>
#include <unordered_set>

namespace {

int failures, claims;

void expect(bool holds, const char *what, int line)
{
    claims++;
    if (holds) return;
    failures++;
    std::fprintf(stderr, "test_hpp.cc:%d: not so: %s\n", line, what);
}
#define EXPECT(what) expect((what), #what, __LINE__)

template <class F> u9_err thrown(F &&body)
{
    try {
        body();
    } catch (const u9::error &e) {
        return e.code();
    }
    return U9_OK;
}

u9::value view(const u9::builder &b)
{
    return u9::value::checked(b.data(), b.size());
}

void a_tuple_is_built_and_taken_apart()
{
    u9::builder b;
    std::string path = "/index.html";
    b.tuple("GET", path, 200, -3, 0.25, 1.5f, u9::symbol("fast"), u9::bytes("\x01\x02", 2), u9::tau{7});
    u9::value v = view(b);
    EXPECT(v.type() == U9_TUPLE && v.size() == 9);
    EXPECT(v[0].as<std::string_view>() == "GET" && v[1].as<std::string>() == path);
    EXPECT(v[2].as<int>() == 200 && v[3].as<std::int8_t>() == -3);
    EXPECT(v[4].as<double>() == 0.25 && v[5].as<float>() == 1.5f);
    EXPECT(v[6].as<u9::symbol>() == u9::symbol("fast"));
    EXPECT(v[7].as<u9::bytes>() == u9::bytes("\x01\x02", 2) && v[8].as<u9::tau>().x == 7);
    auto [method, where, status] = v.take<std::string_view, std::string_view, unsigned>();
    EXPECT(method == "GET" && where == path && status == 200);
}

void what_a_value_is_not_it_does_not_give()
{
    u9::builder b;
    b.tuple(300, -1, "x", 0.5);
    u9::value v = view(b);
    EXPECT(!v[0].get<std::uint8_t>() && v[0].get<std::uint16_t>() == std::uint16_t{300});
    EXPECT(!v[1].get<unsigned>() && v[1].get<long long>() == -1);
    EXPECT(!v[2].get<int>() && !v[2].get<u9::bytes>() && !v[3].get<float>() && !v[3].get<int>());
    EXPECT(thrown([&] { (void)v[2].as<int>(); }) == U9_ARG);
    EXPECT(thrown([&] { (void)v[4]; }) == U9_END);
    EXPECT(thrown([&] { (void)v.take<int, int, std::string_view, double, int>(); }) == U9_END);
}

void integers_keep_their_whole_range()
{
    u9::builder b;
    b.tuple(UINT64_MAX, INT64_MIN, INT64_MAX, std::int8_t{-128}, std::uint8_t{255});
    u9::value v = view(b);
    EXPECT(v[0].as<std::uint64_t>() == UINT64_MAX && !v[0].get<std::int64_t>());
    EXPECT(v[1].as<std::int64_t>() == INT64_MIN && v[2].as<std::int64_t>() == INT64_MAX);
    EXPECT(v[3].as<std::int8_t>() == -128 && v[4].as<std::uint8_t>() == 255 && !v[4].get<std::int8_t>());
}

void elements_are_a_range()
{
    u9::builder b;
    b.nest([&] {
        for (int i = 1; i <= 100; i++) b.add(i);
    });
    int sum = 0;
    for (u9::value e : view(b)) sum += e.as<int>();
    EXPECT(sum == 5050);
    u9::builder empty;
    empty.tuple();
    EXPECT(view(empty).begin() == view(empty).end() && view(empty).empty());
    const std::uint8_t torn[] = {0x4a, 0x02, 0x81, 0x23};
    EXPECT(thrown([&] {
               for (u9::value e : u9::value::decode(torn, sizeof torn)) (void)e;
           }) == U9_TORN);
    EXPECT(thrown([&] { (void)u9::value::checked(torn, sizeof torn); }) == U9_CORRUPT);
}

template <class T> void numbers_survive(std::vector<T> all)
{
    u9::builder b;
    b.tuple(1, all);
    u9::value v = view(b)[1];
    u9::numbers<T> got = v.as_numbers<T>();
    EXPECT(v.type() == U9_ARRAY && got.size() == all.size());
    std::size_t k = 0;
    for (T n : got) EXPECT(n == all[k++]);
    EXPECT(k == all.size());
    for (k = 0; k < all.size(); k++) EXPECT(got[k] == all[k]);
}

void arrays_hold_numbers_of_every_width()
{
    numbers_survive<std::uint8_t>({0, 1, 255});
    numbers_survive<std::int16_t>({-32768, -1, 0, 32767});
    numbers_survive<std::uint32_t>({0, 1, 0xffffffffu});
    numbers_survive<std::int64_t>({INT64_MIN, -1, INT64_MAX});
    numbers_survive<float>({-0.5f, 3e38f});
    numbers_survive<double>({-0.5, 1e308});
    u9::builder b;
    std::vector<std::int32_t> two = {1, 2};
    b.add(two);
    EXPECT(thrown([&] { (void)view(b).as_numbers<std::uint32_t>(); }) == U9_ARG);
    EXPECT(thrown([&] { (void)view(b)[0].as_numbers<std::int32_t>(); }) == U9_ARG);
    EXPECT(view(b)[1].as<int>() == 2);
}

void values_compare_and_hash_as_everywhere()
{
    u9::builder tuple, array, other;
    tuple.tuple(1, 2, 3);
    array.array(std::vector<std::int16_t>{1, 2, 3}.data(), 3);
    other.tuple(1, 2, 4);
    EXPECT(view(tuple) == view(array) && view(tuple) != view(other) && view(array) < view(other));
    std::unordered_set<u9::value> set = {view(tuple), view(array), view(other)};
    EXPECT(set.size() == 2);
}

void a_tuple_is_matched_from_the_left()
{
    u9::builder b, field, wrong;
    b.tuple("stream", 1, 2);
    field.add("stream");
    wrong.add("other");
    std::optional<u9::value> rest = view(b).match(view(field));
    EXPECT(rest && rest->size() == 2 && (*rest)[0].as<int>() == 1);
    EXPECT(!view(b).match(view(wrong)));
    u9::builder copy;
    copy.add(*rest);
    EXPECT(view(copy) == *rest);
}

void a_builder_grows_and_starts_anew()
{
    u9::builder b;
    std::string large(1 << 20, 'x');
    b.tuple(large, large);
    EXPECT(view(b)[1].as<std::string_view>() == large);
    b.clear();
    b.tuple(1);
    EXPECT(b.size() == 3 && view(b)[0].as<int>() == 1);
    EXPECT(thrown([&] { b.add(u9::symbol("far too long")); }) == U9_ARG);
}

void a_log_is_written_and_read(const std::string &path)
{
    EXPECT(thrown([&] { u9::log none(path); }) == U9_IO);
    {
        u9::log log = u9::log::create(path);
        for (int i = 0; i < 1000; i++) EXPECT(log.append("line", i, 0.5 * i).ordinal == std::uint64_t(i));
        log.commit(999);
        EXPECT(thrown([&] { u9::log second = u9::log::create(path); }) == U9_LOCKED);
        log.close();
        EXPECT(thrown([&] { (void)log.append("late"); }) == U9_STATE);
        EXPECT(thrown([&] { (void)log.records(); }) == U9_STATE);
    }
    try {
        u9::log none(path + "/none");
    } catch (const u9::error &e) {
        EXPECT(std::string(e.what()).find("No such file") != std::string::npos);
    }
    u9::log log(path);
    auto records = log.records();
    int n = 0;
    while (auto r = records.next()) {
        auto v = r->values().begin();
        EXPECT(v->as<std::string_view>() == "line");
        EXPECT((++v)->as<int>() == n && (++v)->as<double>() == 0.5 * n);
        EXPECT(++v == r->values().end() && r->ordinal() == std::uint64_t(n) && r->key().size == 16);
        n++;
    }
    EXPECT(n == 1000);
    EXPECT(thrown([&] { (void)log.append("none"); }) == U9_STATE);
}

template <class F> std::string said(F &&body)
{
    try {
        body();
    } catch (const u9::error &e) {
        return e.what();
    }
    return "";
}

bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

void a_failing_call_tells_of_itself(const std::string &path)
{
    u9_options options = {};
    options.mode = U9_CREATE;
    options.policy = U9_POLICY_NONE;
    u9::log log(path, options);
    auto place = log.append("one");
    EXPECT(has(said([&] { (void)log.append_encoded({"\x00\x07\x7f", 3}); }), "offset 2: in the values of the record"));
    EXPECT(has(said([&] { log.commit(place.ordinal); }), "AGAIN: not now")); /* and not of the one before */
    EXPECT(has(said([&] { log.commit(7); }), "record 7 was not appended"));
    auto records = log.records();
    auto moved = std::move(records);
    EXPECT(thrown([&] { (void)records.next(); }) == U9_ARG && records.damage() == nullptr);
}

void a_record_of_any_size_goes_in_and_out_in_pieces(const std::string &path)
{
    constexpr std::size_t size = (17 << 20) + 5;
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; i += 1000) text[i] = char('a' + i % 26);
    {
        u9::log log = u9::log::create(path);
        {
            auto given_up = log.begin(1, 100);
            given_up.write("\x85", 1);
            EXPECT(thrown([&] { (void)log.begin(1, 1); }) == U9_AGAIN);
            EXPECT(thrown([&] { (void)given_up.end(); }) == U9_STATE);
        }
        auto large = log.begin(2, 1 + 5 + size);
        large.write("\x85", 1).head(U9_UTF8, size).write(text.data(), 1 << 20);
        log.append("between");
        large.write(text.data() + (1 << 20), size - (1 << 20));
        EXPECT(large.taken() == 6 + size);
        auto place = large.end();
        EXPECT(place.ordinal == 1 && thrown([&] { (void)large.end(); }) == U9_ARG);
        log.commit(place.ordinal);
    }
    u9::log log(path);
    auto records = log.records();
    EXPECT(!records.next()->large());
    auto r = records.next();
    EXPECT(r && r->large() && r->values_size() == 6 + size && r->key().size == 16);
    EXPECT(thrown([&] { (void)r->values(); }) == U9_LIMIT);
    auto reading = log.read(*r);
    std::string back(size + 1, 0);
    EXPECT(reading.read(r->size() - size, back.data(), size + 1) == size);
    back.resize(size);
    EXPECT(back == text);
    EXPECT(reading.read(r->size(), back.data(), 1) == 0);
    EXPECT(!records.next());
}

/* [I-18] [I-19] */
void identifiers_are_made_of_fields_compared_and_printed()
{
    u9::muid m(1642579230975519, 1923190821165, -1);
    EXPECT(m.text() == "5D5EAC793E61F-1BFC71B112D-FFFFFFFF" && m == u9::muid::parse(m.text()));
    EXPECT(u9::muid::floor(m.timestamp) < m && m < u9::muid::ceil(m.timestamp));
    EXPECT(u9::muid::parse("5D5EAC793E61F-0000000000000-00000") == u9::muid::floor(m.timestamp));
    auto packed = m.pack();
    EXPECT(u9::muid::unpack({packed.data(), packed.size()}) == m);
    EXPECT(thrown([] { u9::muid none(U9_MUID_TIMESTAMP_MAX + 1, 1, 1); }) == U9_ARG);
    EXPECT(thrown([] { (void)u9::muid::ceil(U9_MUID_TIMESTAMP_MAX + 1); }) == U9_ARG);
    EXPECT(thrown([] { (void)u9::muid::unpack({"short", 5}); }) == U9_ARG);
    EXPECT(has(said([] { (void)u9::muid::parse("5d5eac793e61f"); }), "must be upper case"));

    u9::gid g(U9_GID_LOG, 1700000000000, {0xa0});
    EXPECT(g.text() == "74geupMzS3-3386Ju4o4DBPD" && g.short_text() == "3386Ju4o4DBPD");
    EXPECT(u9::gid::parse(g.text(), U9_GID_LOG, U9_GID_STRICT) == g);
    EXPECT(u9::gid::floor(U9_GID_LOG, 1700000000000) < g && g <= u9::gid::ceil(U9_GID_LOG, 1700000000000));
    EXPECT(u9::gid::empty(U9_GID_LOG).is_empty() && !g.is_empty());
    EXPECT(has(said([&] { (void)u9::gid::parse(g.text(), U9_GID_VOLUME); }), "another type"));
    EXPECT(thrown([] { u9::gid none(U9_GID_LOG, 1, {0x7f}); }) == U9_ARG);
    auto gid_packed = g.pack();
    EXPECT(u9::gid::unpack({gid_packed.data(), gid_packed.size()}) == g);

    u9::tid t(1682739741953005, 30);
    EXPECT(t.text() == "3jui7kd54zh2y" && u9::tid::parse("3jui7kd54zh2y") == t);
    EXPECT(u9::tid::floor(t.timestamp) < t && t < u9::tid::ceil(t.timestamp));
    EXPECT(u9::compare_rkeys(u9::tid::floor(t.timestamp).text(), t.text()) < 0);
    EXPECT(thrown([] { u9::tid none(1, 1024); }) == U9_ARG);
    auto tid_packed = t.pack();
    EXPECT(u9::tid::unpack({tid_packed.data(), tid_packed.size()}) == t);

    u9::uid8 i(143062936275, 10, 2, 5, U9_UID8_TIME_SEQUENTIAL);
    EXPECT(i.text() == "0853cdcab4ca1025" && u9::uid8::parse(i.text()) == i);
    EXPECT(u9::uid8::floor(i.timestamp_ms, i.mode) < i && i < u9::uid8::ceil(i.timestamp_ms, i.mode));
    EXPECT(has(said([] { u9::uid8 none(1, 64, 0, 0); }), "sequence is above 63"));
    EXPECT(has(said([] { u9::uid8 none(1, 0, 64, 0, U9_UID8_SPREAD, 1); }), "generator is above"));
    auto uid8_packed = i.pack();
    EXPECT(u9::uid8::unpack({uid8_packed.data(), uid8_packed.size()}) == i);
    EXPECT(u9::compare_rkeys("self", "selfie") < 0 && u9::compare_rkeys("a", "a") == 0);
}

/* [I-21] */
void generators_make_one_or_a_batch()
{
    u9::muid_generator muids;
    u9::muid first = muids.next();
    auto batch = muids.next_n(1000);
    EXPECT(batch.size() == 1000 && first < batch.front() && u9::muid(batch.back()) < muids.next());
    for (std::size_t k = 1; k < batch.size(); k++)
        EXPECT(batch[k].timestamp == batch[0].timestamp + k && batch[k].offset == 1);

    u9_gidgen_options growing = {};
    growing.monotonic = 1;
    u9::gid_generator gids(growing);
    u9::gid before = gids.next(U9_GID_VOLUME);
    EXPECT(before < gids.next_n(U9_GID_VOLUME, 10).front());
    EXPECT(thrown([&] { (void)gids.next(U9_GID_ANY); }) == U9_ARG);

    u9::tid_generator tids;
    u9::tid prev = u9::tid::ceil(U9_TID_TIMESTAMP_MAX - 2);
    u9::tid one = tids.next();
    EXPECT(one < tids.next_n(2).front());
    EXPECT(thrown([&] { (void)tids.next_n(3, &prev); }) == U9_LIMIT);
    EXPECT(prev < tids.next_n(2, &prev).front() && thrown([&] { (void)tids.next(); }) == U9_LIMIT);

    u9_uid8gen_options numbered = {};
    numbered.generator = 7;
    u9::uid8_generator uid8s(numbered);
    EXPECT(uid8s.next().generator == 7 && uid8s.next_n(100).size() == 100);
    u9_uid8gen_options wrong = {};
    wrong.cluster = 16;
    EXPECT(has(said([&] { u9::uid8_generator none(wrong); }), "cluster is above 15"));
    u9::uid8_generator moved(std::move(uid8s));
    EXPECT(thrown([&] { (void)uid8s.next(); }) == U9_STATE && moved.next_n(0).empty());
}

void keys_are_made_as_the_options_say(const std::string &folder)
{
    u9_options options = {};
    options.mode = U9_CREATE;
    options.medallion = 77;
    u9_muid muid;
    u9::log muids(folder + "/muids", options);
    u9_muid_unpack(muids.append(1).key, &muid);
    EXPECT(muid.medallion == 77 && muid.offset == 1);

    options.kind = "uid8";
    u9::log refuses(folder + "/refuses", options);
    EXPECT(thrown([&] { refuses.append(1); }) == U9_ARG);
    EXPECT(has(said([&] { refuses.append(1); }), "options.generator"));
    EXPECT(u9::lock_file::beside(folder + "/a/") == folder + "/.u9-numbers");
    u9::lock_file file(u9::lock_file::beside(folder + "/a"));
    options.numbers = file.numbers();
    u9::log a(folder + "/a", options), b(folder + "/b", options);
    u9_place x = a.append(1), y = b.append(1);
    EXPECT(u9::uid8::unpack({x.key, 8}).generator == 0 && u9::uid8::unpack({y.key, 8}).generator == 1);
    u9_lock_file_options wrong = {};
    wrong.cluster = 16;
    EXPECT(thrown([&] { u9::lock_file none("x", wrong); }) == U9_ARG);
}

std::string text_of(const u9::record &r)
{
    return std::string(r.values().begin()->as<std::string_view>());
}

void a_log_is_a_range(const std::string &path)
{
    u9::log log = u9::log::create(path);
    EXPECT(log.begin() == log.end());
    for (int i = 0; i < 100; i++) log.append("line", i);
    log.sync();
    int n = 0;
    for (const u9::record &r : log) {
        auto [word, number] = u9::value::checked(r.raw().bytes, r.size()).take<u9::value, std::string_view>();
        EXPECT(number == "line" && word.type() == U9_BYTES);
        EXPECT(r.ordinal() == std::uint64_t(n++));
    }
    EXPECT(n == 100);
    for (auto r : log) n -= text_of(r) == "line";
    EXPECT(n == 0);
    u9_range from = {};
    from.from = 97;
    for (const u9::record &r : log.records(from)) n += int(r.ordinal());
    EXPECT(n == 97 + 98 + 99);
    auto rest = log.records();
    (void)rest.next();
    EXPECT(std::distance(rest.begin(), rest.end()) == 99);
    EXPECT(log.kind() == "muid" && log.next_ordinal() == 100 && log.durable() == 100);
    log.close();
    EXPECT(thrown([&] { (void)log.begin(); }) == U9_STATE && has(said([&] { (void)log.begin(); }), "the log is closed"));
}

void a_batch_is_one_frame(const std::string &path)
{
    u9::log log = u9::log::create(path);
    u9::batch b;
    EXPECT(log.append(b).empty());
    b.add("one", 1).add("two", 2.5);
    u9::muid id(1700000000000000, 7, 1);
    b.put(id.pack(), "three");
    auto places = log.append(b);
    EXPECT(places.size() == 3 && places[2].ordinal == 2 && u9::muid::unpack({places[2].key, 16}) == id);
    log.commit(places.back().ordinal);
    std::uint64_t frame = log.begin()->raw().frame;
    for (const u9::record &r : log) EXPECT(r.raw().frame == frame);
    b.clear();
    b.put({"short", 5}, 1);
    b.add(2);
    EXPECT(b.size() == 2 && thrown([&] { (void)log.append(b); }) == U9_ARG);
    EXPECT(has(said([&] { (void)log.append(b); }), "key"));
}

void a_record_is_found_by_its_key(const std::string &path)
{
    u9_options options = {};
    options.mode = U9_CREATE;
    options.kind = "rkey";
    u9::log log(path, options);
    log.put("apple", "red");
    log.put(std::string_view("apple"), "green");
    log.put("big", std::string(100000, 'x'));
    log.sync();
    auto apple = log.get("apple");
    EXPECT(apple && text_of(*apple) == "green" && apple->ordinal() == 1);
    EXPECT(!log.get("pear"));
    auto moved = std::move(apple);
    EXPECT(text_of(*moved) == "green" && moved->key() == u9::bytes("apple", 5));
    EXPECT(text_of(*log.get("big")).size() == 100000);
    EXPECT(thrown([&] { (void)log.get(""); }) == U9_ARG);
    auto many = log.get_many({"big", "pear", "apple"});
    EXPECT(many.size() == 3 && text_of(*many[0]).size() == 100000 && !many[1] && text_of(*many[2]) == "green");
    EXPECT(log.get_many({}).empty() && thrown([&] { (void)log.get_many({"apple", ""}); }) == U9_ARG);
    std::string all;
    log.versions("apple", [&](const u9::record &r) { return all += text_of(r), true; });
    log.versions("pear", [&](const u9::record &) { return all += "never", true; });
    log.versions("apple", [&](const u9::record &r) { return all += text_of(r), false; });
    EXPECT(all == "redgreenred");
    EXPECT(thrown([&] { log.versions("apple", [](const u9::record &) -> bool { throw u9::error(U9_END); }); }) == U9_END);
    u9::log ids = u9::log::create(path + "-ids");
    auto place = ids.append("mine");
    ids.sync();
    EXPECT(text_of(*ids.get(u9::muid::unpack({place.key, 16}).pack())) == "mine");
}

void a_snapshot_and_a_merge_are_logs(const std::string &path)
{
    u9::log log = u9::log::create(path);
    for (int i = 0; i < 10; i++) log.append("r", i);
    EXPECT(log.snapshot(path + "-snap").next_ordinal == 10);
    log.append("r", 10);
    EXPECT(log.snapshot(path + "-snap").next_ordinal == 11);
    u9::log snap(path + "-snap");
    EXPECT(std::distance(snap.begin(), snap.end()) == 11);
    log.append("r", 11);
    log.sync();
    u9_merge_report report = u9::merge(path + "-all", {path, path + "-snap"});
    EXPECT(report.records == 12 && report.repeats == 11);
    EXPECT(has(said([&] { (void)log.snapshot(path + "-all"); }), "is no snapshot"));
    EXPECT(has(said([&] { (void)u9::merge(path + "-all", {path}); }), path + "-all: the new log must not exist"));
}

void a_log_is_read_backwards_and_from_anywhere(const std::string &path)
{
    u9::log log = u9::log::create(path);
    for (int i = 0; i < 50; i++) log.commit(log.append("r", i).ordinal); /* a frame each */
    auto middle = log.records();
    for (int i = 0; i < 30; i++) (void)middle.next();
    std::uint64_t n = 50;
    for (const u9::record &r : log.reversed()) EXPECT(r.ordinal() == --n);
    EXPECT(n == 0);
    EXPECT(middle.prev()->ordinal() == 29 && middle.prev()->ordinal() == 28 && middle.next()->ordinal() == 28);
    EXPECT(!middle.to_start().prev() && middle.to_end().prev()->ordinal() == 49 && middle.to_ordinal(7).next()->ordinal() == 7);
    auto r = log.records();
    std::uint64_t time = r.to_ordinal(20).next()->time_us();
    n = r.to_time(time).next()->ordinal();
    EXPECT(n <= 20 && log.since(time).next()->ordinal() == n);
    for (const u9::record &later : log.since(time)) EXPECT(later.time_us() >= time && later.ordinal() == n++);
    EXPECT(n == 50);
    for (const u9::record &before : log.between(0, time)) EXPECT(before.time_us() < time);
    auto at = std::chrono::system_clock::time_point(std::chrono::microseconds(time));
    EXPECT(log.since(at).next()->time_us() >= time && !log.since(at + std::chrono::hours(9)).next());
    u9::muid key = u9::muid::unpack(r.to_ordinal(33).next()->key());
    EXPECT(r.to_key(key.pack()).next()->ordinal() == 33);
    EXPECT(r.bisect([](const u9::record &x) { return x.ordinal() >= 41; }).next()->ordinal() == 41);
    EXPECT(thrown([&] { r.bisect([](const u9::record &) -> bool { throw u9::error(U9_LIMIT); }); }) == U9_LIMIT);
    std::string line = r.to_ordinal(12).save();
    u9::log again(path);
    EXPECT(again.from(line).next()->ordinal() == 12);
    EXPECT(thrown([&] { (void)again.from("nonsense"); }) == U9_ARG);
}

void ranges_for_threads_are_the_log(const std::string &path)
{
    u9::log log = u9::log::create(path);
    for (int i = 0; i < 20000; i++) log.append("some text that makes it long enough", i);
    log.sync();
    std::vector<std::uint64_t> sums(8), counts(8);
    std::vector<std::thread> threads;
    for (const u9_split_range &range : log.splits(8))
        threads.emplace_back([&, range] {
            for (const u9::record &r : log.records(range)) {
                sums[range.number - 1] += r.ordinal();
                counts[range.number - 1]++;
            }
        });
    EXPECT(threads.size() > 1 && threads.size() <= 8);
    for (std::thread &t : threads) t.join();
    std::uint64_t sum = 0, count = 0;
    for (std::size_t i = 0; i < 8; i++) sum += sums[i], count += counts[i];
    EXPECT(count == 20000 && sum == 20000ull * 19999 / 2);
}

void a_log_is_followed(const std::string &path)
{
    u9::log log = u9::log::create(path);
    log.commit(log.append("first").ordinal);
    std::thread writer;
    int n = 0;
    for (const u9::record &r : log.follow()) {
        EXPECT(r.ordinal() == std::uint64_t(n));
        if (n++ == 0) writer = std::thread([&log] {
            for (int i = 0; i < 10; i++) log.commit(log.append("more").ordinal);
        });
        if (n == 11) break;
    }
    writer.join();
    auto records = log.records();
    records.follow();
    while (records.next()) n--;
    EXPECT(n == 0 && !records.wait(0));
}

/* What the head of u9.hpp shows of a damaged log. */
void damage_throws_a_sentence_and_the_walk_goes_on(const std::string &path)
{
    {
        u9::log log = u9::log::create(path);
        for (int i = 0; i < 3; i++) log.commit(log.append("record", i).ordinal);
    }
    std::string file = path + "/0000000000000001.u9";
    std::FILE *f = std::fopen(file.c_str(), "r+b");
    std::fseek(f, 2 * 4096 + 80, SEEK_SET); /* in the second record's frame */
    std::fputc('X', f);
    std::fclose(f);
    u9::log log(path);
    int whole = 0, damaged = 0;
    for (auto records = log.records();;) try {
            while (auto r = records.next()) whole++;
            break;
        } catch (const u9::error &e) {
            if (records.damage() == nullptr) throw;
            EXPECT(e.code() == U9_CORRUPT && has(e.what(), "CORRUPT: ") && has(e.what(), file + ": offset "));
            damaged++;
        }
    EXPECT(whole == 2 && damaged == 1);
    EXPECT(has(said([] { (void)u9::value::decode("\x18", 1); }), "TORN: the bytes end early"));
}

} /* namespace */

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    a_tuple_is_built_and_taken_apart();
    what_a_value_is_not_it_does_not_give();
    integers_keep_their_whole_range();
    elements_are_a_range();
    arrays_hold_numbers_of_every_width();
    values_compare_and_hash_as_everywhere();
    a_tuple_is_matched_from_the_left();
    a_builder_grows_and_starts_anew();
    identifiers_are_made_of_fields_compared_and_printed();
    generators_make_one_or_a_batch();
    a_log_is_written_and_read(std::string(argv[1]) + "/log");
    keys_are_made_as_the_options_say(argv[1]);
    a_failing_call_tells_of_itself(std::string(argv[1]) + "/failing");
    a_log_is_a_range(std::string(argv[1]) + "/range");
    a_batch_is_one_frame(std::string(argv[1]) + "/batch");
    a_record_is_found_by_its_key(std::string(argv[1]) + "/found");
    a_snapshot_and_a_merge_are_logs(std::string(argv[1]) + "/copied");
    a_log_is_read_backwards_and_from_anywhere(std::string(argv[1]) + "/backwards");
    ranges_for_threads_are_the_log(std::string(argv[1]) + "/split");
    a_log_is_followed(std::string(argv[1]) + "/followed");
    damage_throws_a_sentence_and_the_walk_goes_on(std::string(argv[1]) + "/damaged");
    a_record_of_any_size_goes_in_and_out_in_pieces(std::string(argv[1]) + "/large");
    std::printf("test_hpp: %d claims, %d failed\n", claims, failures);
    return failures > 0;
}
