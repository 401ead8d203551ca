/*
 * u9.hpp: u9 in C++17, header only: views and builders of utf9 values, logs, and identifiers.
 *
 * Thin: a view is a u9_value, a walk is a u9_walk, nothing is allocated but by builders that grow and by
 * logs. What fails throws u9::error, whose what() is the whole sentence, place and cause, and which carries the
 * u9_fault; `get` and `find` answer with an optional instead. Views borrow the bytes they look at, exactly as in
 * u9/value.h, which has the rules.
 *
 *     u9::builder b;
 *     b.tuple("GET", 200, 0.25, u9::symbol("fast"));
 *     for (u9::value v : u9::value::decode(b.data(), b.size())) ...
 *
 *     u9::log log = u9::log::create("events");
 *     log.append("GET", 200);
 *     log.sync();
 *     for (const u9::record &r : log) ... r.values() ...
 *
 * Threads: as the C functions; distinct objects may be used from distinct threads.
 */
#ifndef U9_HPP
#define U9_HPP

#include <u9.h>
#include <u9/cursor.h>
#include <u9/follow.h>
#include <u9/lookup.h>
#include <u9/scan.h>

#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace u9 {

/* What a call of the library refused, and why. */
class error : public std::runtime_error {
public:
    explicit error(u9_err code, const u9_fault &fault = {})
        : std::runtime_error(describe(code, fault)), code_(code), fault_(fault) {}
    /* Of this header's own: the sentence is its fault's. */
    error(u9_err code, std::string_view sentence) : error(code, fault_of(code, sentence)) {}
    u9_err code() const noexcept { return code_; }
    const u9_fault &fault() const noexcept { return fault_; }

private:
    static std::string describe(u9_err code, const u9_fault &fault)
    {
        char line[1200];
        std::string text = u9_err_name(code);
        return text + ": " + (fault.err != U9_OK ? u9_fault_line(&fault, line, sizeof line) : meaning(code));
    }
    static u9_fault fault_of(u9_err code, std::string_view sentence)
    {
        u9_fault fault = {};
        fault.err = code;
        fault.segment = fault.offset = U9_NOWHERE;
        sentence.copy(fault.text, sizeof fault.text - 1);
        return fault;
    }
    /* Where a call has no fault to tell: what the number says by itself. */
    static const char *meaning(u9_err code)
    {
        switch (code) {
        case U9_OK: return "nothing failed";
        case U9_END: return "there are no more elements, records or bytes";
        case U9_AGAIN: return "not now: it is not yet durable, or more is to come";
        case U9_ABSENT: return "it is not there";
        case U9_ARG: return "an argument is none that the call takes";
        case U9_NOMEM: return "out of memory";
        case U9_IO: return "the system refused";
        case U9_CORRUPT: return "the bytes are not well-formed";
        case U9_TORN: return "the bytes end early";
        case U9_VERSION: return "this is from a later version of the format";
        case U9_LIMIT: return "a limit is exceeded";
        case U9_LOCKED: return "another writer has the log";
        case U9_STATE: return "the call is not allowed now";
        case U9_POISONED: return "an earlier write or sync failed";
        }
        return "unknown";
    }
    u9_err code_;
    u9_fault fault_;
};

inline void check(u9_err err, const u9_fault &fault = {})
{
    if (err != U9_OK) throw error(err, fault);
}

/* Bytes that somebody else owns: the contents of a bytes value, one to be written. */
struct bytes {
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    bytes() = default;
    bytes(const void *p, std::size_t n) : data(static_cast<const std::uint8_t *>(p)), size(n) {}
    /* Those of a text, and of what an identifier's pack() gives: the raw forms of keys. */
    template <class T, class = std::enable_if_t<std::is_convertible_v<const T &, std::string_view>>> bytes(const T &text)
        : bytes(std::string_view(text).data(), std::string_view(text).size()) {}
    template <std::size_t N> bytes(const std::array<std::uint8_t, N> &packed) : bytes(packed.data(), N) {}
    friend bool operator==(bytes a, bytes b)
    {
        return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
    }
    friend bool operator!=(bytes a, bytes b) { return !(a == b); }
};

/* A symbol: 1 to 8 ASCII characters. [V-9] */
struct symbol {
    std::string_view name;
    explicit symbol(std::string_view n) : name(n) {}
    friend bool operator==(symbol a, symbol b) { return a.name == b.name; }
};

/* A position in the time-cycle, tau(x). */
struct tau {
    std::uint64_t x;
};

template <class T> class numbers;

/* A view of one value. Borrows. */
class value {
public:
    class iterator;

    value() = default;
    value(const u9_value &v) : v_(v) {}

    /* The value that begins at `p`, of which `n` bytes may be read; more may follow it. */
    static value decode(const void *p, std::size_t n)
    {
        value v;
        u9::check(u9_value_decode(p, n, &v.v_));
        return v;
    }
    static value decode(bytes b) { return decode(b.data, b.size); }

    /* The same for bytes that must be exactly one well-formed value, nested ones included. */
    static value checked(const void *p, std::size_t n)
    {
        u9_fault fault = {};
        u9::check(u9_value_check(p, n, nullptr, &fault), fault);
        return decode(p, n);
    }

    u9_type type() const noexcept { return v_.type; }
    const u9_value &raw() const noexcept { return v_; }
    /* The value as it stands, indexes included; empty for an element of an array. */
    bytes encoded() const noexcept { return {v_.start, v_.encoded}; }
    bool is_container() const noexcept { return v_.type == U9_TUPLE || v_.type == U9_ARRAY; }

    /*
     * The value as a T, if it is one: any integer type that holds the number, double, float (of a
     * float32), std::string_view (utf8), bytes, symbol, tau, value.
     */
    template <class T> std::optional<T> get() const
    {
        if constexpr (std::is_same_v<T, value>) {
            return *this;
        } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            return get_integer<T>();
        } else if constexpr (std::is_floating_point_v<T>) {
            bool fits = v_.type == U9_FLOAT32 || (v_.type == U9_FLOAT64 && sizeof(T) >= sizeof(double));
            return fits ? std::optional<T>(static_cast<T>(v_.f)) : std::nullopt;
        } else if constexpr (std::is_same_v<T, std::string_view>) {
            return v_.type == U9_UTF8 ? std::optional<T>(text()) : std::nullopt;
        } else if constexpr (std::is_same_v<T, std::string>) {
            return v_.type == U9_UTF8 ? std::optional<T>(std::string(text())) : std::nullopt;
        } else if constexpr (std::is_same_v<T, bytes>) {
            return v_.type == U9_BYTES ? std::optional<T>(contents()) : std::nullopt;
        } else if constexpr (std::is_same_v<T, symbol>) {
            return v_.type == U9_SYMBOL ? std::optional<T>(symbol(name())) : std::nullopt;
        } else if constexpr (std::is_same_v<T, tau>) {
            return v_.type == U9_TAU ? std::optional<T>(tau{v_.u}) : std::nullopt;
        } else {
            static_assert(!sizeof(T), "no value is of this type");
        }
    }

    /* The same; U9_ARG is thrown if it is none. */
    template <class T> T as() const
    {
        std::optional<T> got = get<T>();
        if (!got) throw error(U9_ARG, "the value is not of the type that was asked for, or does not fit it");
        return *got;
    }

    /* Containers: how many elements are claimed; 0 for any other value. */
    std::uint64_t size() const noexcept { return is_container() ? v_.count : 0; }
    bool empty() const noexcept { return size() == 0; }

    /* Element `k`; U9_END is thrown if there are not so many. */
    value operator[](std::uint64_t k) const
    {
        value out;
        u9::check(u9_value_at(&v_, k, &out.v_));
        return out;
    }

    /* The first elements as Ts, in one walk: auto [method, status] = v.take<std::string_view, int>(); */
    template <class... T> std::tuple<T...> take() const
    {
        u9_walk walk = u9_walk_elements(&v_);
        return std::tuple<T...>{next_as<T>(walk)...};
    }

    iterator begin() const;
    iterator end() const;

    /* The elements of an array of Ts, of exactly that width and kind. U9_ARG if it is none. */
    template <class T> numbers<T> as_numbers() const;

    std::uint64_t hash() const noexcept { return u9_value_hash(&v_); }
    int compare(const value &other) const noexcept { return u9_value_compare(&v_, &other.v_); }
    friend bool operator==(const value &a, const value &b) noexcept { return a.compare(b) == 0; }
    friend bool operator!=(const value &a, const value &b) noexcept { return a.compare(b) != 0; }
    friend bool operator<(const value &a, const value &b) noexcept { return a.compare(b) < 0; }

    /* If the first element equals `field`: the tuple of the others. */
    std::optional<value> match(const value &field) const
    {
        value rest;
        u9_err err = u9_tuple_match(&v_, &field.v_, &rest.v_);
        if (err == U9_END) return std::nullopt;
        u9::check(err);
        return rest;
    }

private:
    std::string_view text() const
    {
        return {reinterpret_cast<const char *>(v_.data), static_cast<std::size_t>(v_.size)};
    }
    bytes contents() const { return {v_.data, static_cast<std::size_t>(v_.size)}; }
    std::string_view name() const
    {
        std::string_view all = text();
        return all.substr(0, all.find_last_not_of('\0') + 1);
    }
    template <class T> std::optional<T> get_integer() const
    {
        if (v_.type == U9_UINT && v_.u <= static_cast<std::uint64_t>((std::numeric_limits<T>::max)()))
            return static_cast<T>(v_.u);
        if (v_.type != U9_INT) return std::nullopt;
        if (v_.i >= 0 &&
            static_cast<std::uint64_t>(v_.i) <= static_cast<std::uint64_t>((std::numeric_limits<T>::max)()))
            return static_cast<T>(v_.i);
        if (v_.i < 0 && std::is_signed_v<T> &&
            v_.i >= static_cast<std::int64_t>((std::numeric_limits<T>::min)()))
            return static_cast<T>(v_.i);
        return std::nullopt;
    }
    template <class T> static T next_as(u9_walk &walk)
    {
        value v;
        u9::check(u9_walk_next(&walk, &v.v_));
        return v.as<T>();
    }
    u9_value v_ = {};
};

/* Walks elements, or values back to back; what cannot be read throws when the walk comes to it. */
class value::iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = value;
    using difference_type = std::ptrdiff_t;
    using pointer = const value *;
    using reference = const value &;

    iterator() = default; /* the end */
    explicit iterator(u9_walk walk) : walk_(walk), ended_(false) { ++*this; }
    const value &operator*() const noexcept { return now_; }
    const value *operator->() const noexcept { return &now_; }
    iterator &operator++()
    {
        u9_err err = u9_walk_next(&walk_, &now_.v_);
        ended_ = err == U9_END;
        if (!ended_) u9::check(err);
        return *this;
    }
    friend bool operator==(const iterator &a, const iterator &b) noexcept
    {
        return a.ended_ == b.ended_ && (a.ended_ || a.walk_.next == b.walk_.next);
    }
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return !(a == b); }

private:
    u9_walk walk_ = {};
    value now_;
    bool ended_ = true;
};

inline value::iterator value::begin() const { return iterator(u9_walk_elements(&v_)); }
inline value::iterator value::end() const { return iterator(); }

/* Values that stand back to back, such as those of a record: a range. */
class values {
public:
    values(const void *p, std::size_t n) : walk_(u9_walk_bytes(p, n)) {}
    value::iterator begin() const { return value::iterator(walk_); }
    value::iterator end() const { return {}; }

private:
    u9_walk walk_;
};

/* The bytecode of a native number, and whether it is one that arrays hold. */
template <class T> constexpr std::uint8_t number_code()
{
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8,
                  "not a number that arrays hold");
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? 0x08 : 0x09;
    constexpr std::uint8_t step = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<std::uint8_t>((std::is_signed_v<T> ? 0x04 : 0x00) + step);
}

/* The numbers of an array, where they lie: random access, turned to native order as they are read. */
template <class T> class numbers {
public:
    explicit numbers(const u9_span &span) : data_(span.data), count_(static_cast<std::size_t>(span.count)) {}
    std::size_t size() const noexcept { return count_; }
    T operator[](std::size_t k) const noexcept { return load(data_ + k * sizeof(T)); }

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = const T *;
        using reference = T;
        explicit iterator(const std::uint8_t *at) : at_(at) {}
        T operator*() const noexcept { return load(at_); }
        iterator &operator++() noexcept
        {
            at_ += sizeof(T);
            return *this;
        }
        friend bool operator==(iterator a, iterator b) noexcept { return a.at_ == b.at_; }
        friend bool operator!=(iterator a, iterator b) noexcept { return a.at_ != b.at_; }

    private:
        const std::uint8_t *at_;
    };
    iterator begin() const noexcept { return iterator(data_); }
    iterator end() const noexcept { return iterator(data_ + count_ * sizeof(T)); }

private:
    /* The compiler makes one load and one byte swap of it. */
    static T load(const std::uint8_t *p) noexcept
    {
        using bits = std::conditional_t<
            sizeof(T) == 1, std::uint8_t,
            std::conditional_t<sizeof(T) == 2, std::uint16_t,
                               std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
        std::uint64_t wide = 0;
        for (std::size_t i = 0; i < sizeof(T); i++) wide = wide << 8 | p[i];
        bits narrow = static_cast<bits>(wide);
        T out;
        std::memcpy(&out, &narrow, sizeof out);
        return out;
    }
    const std::uint8_t *data_;
    std::size_t count_;
};

template <class T> numbers<T> value::as_numbers() const
{
    u9_span span;
    u9::check(u9_array_span(&v_, &span));
    if (span.code != number_code<T>()) throw error(U9_ARG, "the array holds numbers of another type");
    return numbers<T>(span);
}

/*
 * Writes values into memory of its own, which grows: what is added must not lie in it. Neither copied nor
 * moved. After an exception from within nest() a tuple is open: clear() it.
 */
class builder {
public:
    builder() { u9_builder_init_growing(&b_, grow, &room_); }
    builder(const builder &) = delete;
    builder &operator=(const builder &) = delete;

    const std::uint8_t *data() const noexcept { return room_.data(); }
    std::size_t size() const noexcept { return b_.size; }
    bytes view() const noexcept { return {data(), size()}; }
    /* Forgets what was written and keeps the memory. */
    void clear() noexcept { u9_builder_clear(&b_); }

    builder &add(std::nullptr_t) = delete;
    /* Writes one value: integers, floats, text, bytes, symbols, tau, other values, vectors of numbers. */
    template <class T> builder &add(const T &v)
    {
        if constexpr (std::is_same_v<T, value>) return done(u9_build_value(&b_, &v.raw()));
        else if constexpr (std::is_same_v<T, bytes>) return done(u9_build_bytes(&b_, v.data, v.size));
        else if constexpr (std::is_same_v<T, symbol>) return add_symbol(v);
        else if constexpr (std::is_same_v<T, tau>) return done(u9_build_tau(&b_, v.x));
        else if constexpr (std::is_same_v<T, u9_type>) return done(u9_build_greek(&b_, v));
        else if constexpr (std::is_convertible_v<T, std::string_view>) return add_text(v);
        else if constexpr (std::is_same_v<T, float>) return done(u9_build_float32(&b_, v));
        else if constexpr (std::is_floating_point_v<T>)
            return done(u9_build_float64(&b_, static_cast<double>(v)));
        else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
            return done(u9_build_int(&b_, static_cast<std::int64_t>(v)));
        else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
            return done(u9_build_uint(&b_, static_cast<std::uint64_t>(v)));
        else return add_numbers(v);
    }

    /* A tuple of these. */
    template <class... T> builder &tuple(const T &...elements)
    {
        return nest([&] { (add(elements), ...); });
    }
    /* A tuple of what `body` writes. */
    template <class F> builder &nest(F &&body)
    {
        u9::check(u9_build_tuple_open(&b_));
        std::forward<F>(body)();
        return done(u9_build_tuple_close(&b_));
    }
    /* An array of numbers. */
    template <class T> builder &array(const T *p, std::size_t n)
    {
        return done(u9_build_numbers(&b_, number_code<T>(), p, n));
    }

    /* The builder beneath, for all else that u9/value.h can do. */
    u9_builder *raw() noexcept { return &b_; }

private:
    template <class T> builder &add_numbers(const std::vector<T> &v) { return array(v.data(), v.size()); }
    builder &add_text(std::string_view t) { return done(u9_build_utf8(&b_, t.data(), t.size())); }
    builder &add_symbol(symbol s)
    {
        char name[9] = {};
        if (s.name.size() > 8 || s.name.find('\0') != s.name.npos)
            throw error(U9_ARG, "a symbol has at most 8 characters, and no NUL");
        s.name.copy(name, 8);
        return done(u9_build_symbol(&b_, name));
    }
    builder &done(u9_err err)
    {
        u9::check(err);
        return *this;
    }
    static u9_err grow(void *ctx, std::uint8_t **p, std::size_t *cap, std::size_t need)
    {
        auto *room = static_cast<std::vector<std::uint8_t> *>(ctx);
        try {
            room->resize(need > 2 * room->size() ? need : 2 * room->size());
        } catch (...) {
            return U9_NOMEM;
        }
        *p = room->data();
        *cap = room->size();
        return U9_OK;
    }
    std::vector<std::uint8_t> room_;
    u9_builder b_;
};

/* A record as a cursor shows it: good until the cursor goes on, or what gave it is gone. */
class record {
public:
    record() = default;
    explicit record(const u9_record &r) : r_(r) {}
    std::uint64_t ordinal() const noexcept { return r_.ordinal; }
    std::uint64_t time_us() const noexcept { return r_.time_us; }
    bytes key() const noexcept { return {r_.key.data, r_.key.size}; }
    /* True for a record that is larger than what is handed out at once: log::read has its bytes. */
    bool large() const noexcept { return r_.bytes == nullptr; }
    /* Bytes of it, and of its values, which are the last of them. */
    std::size_t size() const noexcept { return r_.size; }
    std::size_t values_size() const noexcept { return r_.values_size; }
    /* What follows the key. U9_LIMIT is thrown for a large one. */
    u9::values values() const
    {
        if (large()) throw error(U9_LIMIT, "the record is larger than memory is given for: log::read has its bytes");
        return {r_.values, r_.values_size};
    }
    const u9_record &raw() const noexcept { return r_; }

private:
    u9_record r_ = {};
};

/* A record that owns its bytes, as log::get gives it. */
class owned_record : public record {
public:
    owned_record(std::vector<std::uint8_t> room, const u9_record &r) : record(r), room_(std::move(room)) {}
    owned_record(owned_record &&) = default; /* a vector that is moved keeps its bytes where they are */
    owned_record &operator=(owned_record &&) = default;
    owned_record(const owned_record &) = delete;
    owned_record &operator=(const owned_record &) = delete;

private:
    std::vector<std::uint8_t> room_;
};

/*
 * Records that are appended together: all of them are there after a crash, or none. What is added is copied.
 *
 *     u9::batch b;
 *     b.add("GET", 200).add("PUT", 201);
 *     std::vector<u9_place> places = log.append(b);
 */
class batch {
public:
    /* One record of these values under a fresh key. */
    template <class... T> batch &add(const T &...elements) { return put({}, elements...); }
    /* The same under a key of the log's kind, in raw form. */
    template <class... T> batch &put(bytes key, const T &...elements)
    {
        builder b;
        (b.add(elements), ...);
        return put_encoded(key, b.view());
    }
    /* Values that are encoded already, back to back. Without a key (`{}`): a fresh one. */
    batch &put_encoded(bytes key, bytes values)
    {
        items_.push_back({room_.size(), key.size, values.size, key.data != nullptr});
        room_.insert(room_.end(), key.data, key.data + key.size);
        room_.insert(room_.end(), values.data, values.data + values.size);
        return *this;
    }
    std::size_t size() const noexcept { return items_.size(); }
    bool empty() const noexcept { return items_.empty(); }
    void clear() noexcept
    {
        items_.clear();
        room_.clear();
    }
    /* As u9_log_append_batch takes them; good until the batch changes. */
    std::vector<u9_entry> entries() const
    {
        std::vector<u9_entry> out(items_.size());
        for (std::size_t i = 0; i < out.size(); i++) {
            const item &it = items_[i];
            const std::uint8_t *at = room_.data() + it.at;
            out[i].key.data = it.keyed ? at : nullptr;
            out[i].key.size = it.key;
            out[i].values = at + it.key;
            out[i].size = it.values;
        }
        return out;
    }

private:
    struct item {
        std::size_t at, key, values;
        bool keyed;
    };
    std::vector<item> items_;
    std::vector<std::uint8_t> room_;
};

/*
 * Lends generator numbers to the logs of one machine (u9/generator.h): `options.numbers = file.numbers()`. It
 * outlives the logs that are opened with that.
 */
class lock_file {
public:
    explicit lock_file(const std::string &path, u9_lock_file_options options = {})
    {
        u9_fault fault = {};
        options.size = sizeof options;
        options.path = path.c_str();
        u9::check(u9_lock_file_new(&options, &file_, &fault), fault);
        source_ = u9_lock_file_generator(file_);
    }
    lock_file(const lock_file &) = delete;
    lock_file &operator=(const lock_file &) = delete;
    ~lock_file() { u9_lock_file_free(file_); }
    /* The usual path for a log. */
    static std::string beside(const std::string &log)
    {
        std::string path(log.size() + 32, '\0');
        u9::check(u9_lock_file_beside(log.c_str(), path.data(), path.size()));
        path.resize(std::strlen(path.c_str()));
        return path;
    }
    const u9_generator *numbers() const noexcept { return &source_; }

private:
    u9_lock_file *file_ = nullptr;
    u9_generator source_ = {};
};

/* An open log; closed, cleanly, with the object. close() tells what went wrong in that. */
class log {
public:
    /* Reads only; a writer gives options with a mode (and, for fresh keys of kind uid8, a generator number). */
    explicit log(const std::string &path) : log(path, u9_options{}) {}
    log(const std::string &path, u9_options options)
    {
        u9_fault fault = {};
        options.size = sizeof options;
        u9::check(u9_log_open(path.c_str(), &options, &log_, &fault), fault);
    }
    static log create(const std::string &path)
    {
        u9_options options = {};
        options.mode = U9_CREATE;
        return {path, options};
    }
    log(log &&other) noexcept : log_(std::exchange(other.log_, nullptr)) {}
    log &operator=(log &&other) noexcept
    {
        std::swap(log_, other.log_);
        return *this;
    }
    ~log() { (void)u9_log_close(log_, nullptr); }
    void close()
    {
        u9_fault fault = {};
        u9::check(u9_log_close(std::exchange(log_, nullptr), &fault), fault);
    }

    /* Appends one record of these values under a fresh key. */
    template <class... T> u9_place append(const T &...elements)
    {
        builder b;
        (b.add(elements), ...);
        return append_encoded(b.view());
    }
    /* The same for values that are encoded already, back to back. */
    u9_place append_encoded(bytes values, const u9_key *key = nullptr)
    {
        u9_place place = {};
        done(u9_log_append(open(), key, values.data, values.size, &place));
        return place;
    }
    /* One record of these values under a key of the log's kind, in raw form: an identifier's pack(), a text. */
    template <class... T> u9_place put(bytes key, const T &...elements)
    {
        builder b;
        u9_key raw = {key.data, key.size};
        (b.add(elements), ...);
        return append_encoded(b.view(), &raw);
    }
    /* All of a batch, or nothing of it; where each record went. */
    std::vector<u9_place> append(const batch &records)
    {
        std::vector<u9_entry> entries = records.entries();
        std::vector<u9_place> places(entries.size());
        if (!entries.empty()) done(u9_log_append_batch(open(), entries.data(), entries.size(), places.data()));
        return places;
    }
    void commit(std::uint64_t ordinal)
    {
        u9_err err = u9_log_commit(open(), ordinal);
        if (err == U9_AGAIN) throw error(err); /* an outcome, without a fault of its own */
        done(err);
    }
    void sync() { done(u9_log_sync(open())); }

    /*
     * The newest record of a key in raw form: log.get(id.pack()), log.get("a record key"); nothing if there is none. One
     * that is large() has its bytes by read(). Throws CORRUPT where a newer one may have been lost: versions() shows those
     * that are left, and then throws the same.
     */
    std::optional<owned_record> get(bytes key) const
    {
        u9_key raw = {key.data, key.size};
        std::vector<std::uint8_t> room;
        u9_record r = {};
        u9_fault fault = {};
        u9_err err = u9_log_get(open(), &raw, nullptr, 0, &r, &fault);
        for (int tries = 0; err == U9_LIMIT && r.size <= U9_RECORD_MAX && tries < 100; tries++) {
            room.resize(r.size); /* another, larger one may be the newest by now */
            err = u9_log_get(open(), &raw, room.data(), room.size(), &r, &fault);
        }
        if (err == U9_ABSENT) return std::nullopt;
        if (err == U9_LIMIT && r.size > U9_RECORD_MAX) { /* its key borrows what was asked for */
            room.assign(key.data, key.data + key.size);
            r.key.data = room.data();
            return owned_record(std::move(room), r);
        }
        u9::check(err, fault);
        return owned_record(std::move(room), r);
    }

    /* The newest records of many keys, in their order: what has to be read is read for many at once. */
    std::vector<std::optional<owned_record>> get_many(const std::vector<bytes> &keys) const
    {
        enum { ROOM = 512 };
        std::vector<std::vector<std::uint8_t>> rooms(keys.size(), std::vector<std::uint8_t>(ROOM));
        std::vector<u9_lookup> asked(keys.size());
        std::vector<std::optional<owned_record>> found;
        u9_fault fault = {};
        for (std::size_t i = 0; i < keys.size(); i++) {
            asked[i].key = {keys[i].data, keys[i].size};
            asked[i].buf = rooms[i].data();
            asked[i].cap = ROOM;
        }
        if (!asked.empty()) u9::check(u9_log_get_many(open(), asked.data(), asked.size(), &fault), fault);
        for (std::size_t i = 0; i < keys.size(); i++) {
            if (asked[i].err == U9_ABSENT) found.emplace_back();
            else if (asked[i].err == U9_OK) found.emplace_back(owned_record(std::move(rooms[i]), asked[i].record));
            else found.push_back(get(keys[i])); /* a larger one, or it throws what is wrong with this key */
        }
        return found;
    }
    /* All records of a key, the oldest first; each is good until `each` returns, which ends it by returning false. */
    template <class F> void versions(bytes key, F &&each) const
    {
        u9_key raw = {key.data, key.size};
        visiting<F> v = {each, nullptr};
        u9_fault fault = {};
        u9_err err = u9_log_versions(open(), &raw, visiting<F>::tell, &v, &fault);
        if (v.thrown) std::rethrow_exception(v.thrown);
        if (err != U9_ABSENT) u9::check(err, fault);
    }

    class cursor;
    class iterator;
    /* All records, or those of a range: of ordinals, of a segment's bytes (u9_range). */
    cursor records() const;
    cursor records(u9_range range) const;
    /* for (const u9::record &r : log): each record is good until the next. Damage throws. */
    iterator begin() const;
    iterator end() const;
    class backwards;
    class following;
    /* The newest first: for (const u9::record &r : log.reversed()). */
    backwards reversed() const;
    /* Records written at or after a time, and before another: microseconds since 1970, or a time of the system's clock. */
    cursor since(std::uint64_t us) const;
    cursor between(std::uint64_t since_us, std::uint64_t until_us) const;
    template <class D> cursor since(std::chrono::time_point<std::chrono::system_clock, D> time) const;
    template <class D1, class D2>
    cursor between(std::chrono::time_point<std::chrono::system_clock, D1> since,
                   std::chrono::time_point<std::chrono::system_clock, D2> until) const;
    /* From where a cursor was that cursor::save() wrote down, in whatever process. */
    cursor from(const std::string &saved) const;
    /*
     * All records, and then those to come: for (const u9::record &r : log.follow()) never ends by itself. `shows`: what of
     * a live writer's is seen.
     */
    following follow(u9_shown shows = U9_SHOW_DURABLE) const;
    /*
     * Ranges for threads, processes or machines (u9/scan.h): at most n of about equal size, whose records are together those
     * of the log as it is now, each once.
     *
     *     for (const u9_split_range &range : log.splits(8))
     *         threads.emplace_back([&log, range] { for (const u9::record &r : log.records(range)) ... });
     */
    std::vector<u9_split_range> splits(std::uint64_t n, std::uint64_t bytes_each = 0) const
    {
        u9_split_range *ranges = nullptr;
        std::size_t count = 0;
        u9_fault fault = {};
        u9::check(u9_log_split(open(), n, bytes_each, &ranges, &count, &fault), fault);
        std::unique_ptr<u9_split_range, void (*)(u9_split_range *)> owned(ranges, u9_split_free);
        return {ranges, ranges + count};
    }
    cursor records(const u9_split_range &range) const;

    /* Makes or renews a snapshot, `options` as u9/snapshot.h has them. */
    u9_snapshot_report snapshot(const std::string &dir, u9_snapshot_options options = {}) const
    {
        u9_snapshot_report report = {};
        u9_fault fault = {};
        report.size = sizeof report;
        options.size = sizeof options;
        u9::check(u9_log_snapshot(open(), dir.c_str(), &options, &report, &fault), fault);
        return report;
    }
    /* The kind of its keys, and how many records are appended, and durable (writers). */
    std::string_view kind() const { return u9_log_kind(open()); }
    std::uint64_t next_ordinal() const { return u9_log_next(open()); }
    std::uint64_t durable() const { return u9_log_durable(open()); }

    /* A record of any size, in pieces (u9/large.h): `count` values of `size` bytes together. */
    class writing;
    writing begin(std::uint64_t count, std::uint64_t size, const u9_key *key = nullptr);
    class reading;
    reading read(const record &which) const;
    u9_log *raw() const noexcept { return log_; }

private:
    template <class F> struct visiting {
        F &each;
        std::exception_ptr thrown;
        static int tell(void *ctx, const u9_record *r) noexcept
        {
            auto *v = static_cast<visiting *>(ctx);
            try {
                return v->each(record(*r)) ? 0 : 1;
            } catch (...) {
                v->thrown = std::current_exception();
                return 1;
            }
        }
    };
    /* Right behind the call, in its thread: so the fault is that call's. */
    void done(u9_err err)
    {
        u9_fault fault = {};
        if (err != U9_OK) u9_log_fault(log_, &fault);
        u9::check(err, fault);
    }
    /* The handle, or U9_STATE after close() or a move. */
    u9_log *open() const
    {
        if (!log_) throw error(U9_STATE, "the log is closed, or was moved from");
        return log_;
    }
    u9_log *log_ = nullptr;
};

/*
 * Walks the records of a log. Damage throws; the next call goes on behind it:
 *
 *     for (auto records = log.records();;) try {
 *         while (auto r = records.next()) ...
 *         break;
 *     } catch (const u9::error &e) { if (records.damage() == nullptr) throw; std::cerr << e.what(); }
 */
class log::cursor {
public:
    explicit cursor(u9_log *log, const u9_range *range = nullptr)
    {
        u9_fault fault = {};
        u9::check(u9_cursor_open(log, range, &cursor_, &fault), fault);
    }
    cursor(u9_log *log, const u9_split_range &range)
    {
        u9_fault fault = {};
        u9::check(u9_range_open(log, &range, &cursor_, &fault), fault);
    }
    cursor(cursor &&other) noexcept : cursor_(std::exchange(other.cursor_, nullptr)) {}
    cursor &operator=(cursor &&other) noexcept
    {
        std::swap(cursor_, other.cursor_);
        return *this;
    }
    ~cursor() { u9_cursor_close(cursor_); }

    /* The next record; nothing behind the last. */
    std::optional<record> next()
    {
        u9_record r;
        return outcome(u9_cursor_next(cursor_, &r), r);
    }
    /* The one before; nothing before the first. What next() gave last comes first. */
    std::optional<record> prev()
    {
        u9_record r;
        return outcome(u9_cursor_prev(cursor_, &r), r);
    }

    /* Somewhere else: next() gives the first record at or behind that place, prev() the one before it. */
    cursor &to_start() { return seek(U9_SEEK_START); }
    cursor &to_end() { return seek(U9_SEEK_END); }
    cursor &to_ordinal(std::uint64_t ordinal) { return seek(U9_SEEK_ORDINAL, ordinal); }
    cursor &to_time(std::uint64_t us) { return seek(U9_SEEK_TIME, us); }
    cursor &to_key(bytes key)
    {
        u9_seek to = {};
        to.kind = U9_SEEK_KEY;
        to.key = {key.data, key.size};
        return seek(to);
    }
    cursor &to_saved(const std::string &text)
    {
        u9_seek to = {};
        to.kind = U9_SEEK_SAVED;
        to.text = text.c_str();
        return seek(to);
    }
    cursor &seek(u9_seek to)
    {
        to.size = sizeof to;
        return done(u9_cursor_seek(cursor_, &to));
    }
    /*
     * Before the first record for which `test` is true, which from some record on it is for all. What it throws comes
     * through, and the cursor is then anywhere.
     */
    template <class F> cursor &bisect(F &&test)
    {
        bisecting<F> b = {test, nullptr};
        u9_err err = u9_cursor_bisect(cursor_, bisecting<F>::ask, &b);
        if (b.thrown) std::rethrow_exception(b.thrown);
        return done(err);
    }
    /* From now on only records of these bounds: ordinals, and times in microseconds since 1970. */
    cursor &within(u9_bounds bounds)
    {
        bounds.size = sizeof bounds;
        return done(u9_cursor_within(cursor_, &bounds));
    }
    /* Where it is, as a line to keep: log::from(line) goes on from there. */
    std::string save() const
    {
        char text[U9_CURSOR_TEXT_SIZE];
        done(u9_cursor_save(cursor_, text, sizeof text));
        return text;
    }

    /* From now on the end is not the end (u9/follow.h): after nothing came of next(), wait() tells when more may. */
    cursor &follow(u9_shown shows = U9_SHOW_DURABLE) { return done(u9_cursor_follow(cursor_, shows)); }
    /* False: so many milliseconds are over, or a signal came. */
    bool wait(std::uint64_t timeout_ms = U9_NO_TIMEOUT)
    {
        u9_err err = u9_cursor_wait(cursor_, timeout_ms);
        if (err == U9_AGAIN) return false;
        done(err);
        return true;
    }
    int event_fd() noexcept { return u9_cursor_event_fd(cursor_); }

    const u9_damage *damage() const noexcept { return u9_cursor_damage(cursor_); }
    u9_cursor *raw() const noexcept { return cursor_; }

    /* From where it is: for (const u9::record &r : log.records(range)). */
    iterator begin();
    iterator end();

private:
    template <class F> struct bisecting {
        F &test;
        std::exception_ptr thrown;
        static int ask(void *ctx, const u9_record *r) noexcept
        {
            auto *b = static_cast<bisecting *>(ctx);
            if (b->thrown) return 1;
            try {
                return b->test(record(*r)) ? 1 : 0;
            } catch (...) {
                b->thrown = std::current_exception();
                return 1;
            }
        }
    };
    cursor &seek(u9_seek_kind kind, std::uint64_t number = 0)
    {
        u9_seek to = {};
        to.kind = kind;
        to.number = number;
        return seek(to);
    }
    std::optional<record> outcome(u9_err err, const u9_record &r) const
    {
        if (err == U9_OK || err == U9_LIMIT) return record(r);
        if (err != U9_END) done(err);
        return std::nullopt;
    }
    cursor &done(u9_err err) { return static_cast<const cursor *>(this)->done(err), *this; }
    void done(u9_err err) const
    {
        u9_fault fault = {};
        if (err == U9_OK) return;
        u9_cursor_fault(cursor_, &fault);
        throw error(err, fault);
    }
    u9_cursor *cursor_ = nullptr;
};

/* An input iterator: copies share one cursor. What next() throws, ++ throws. */
class log::iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = record;
    using difference_type = std::ptrdiff_t;
    using pointer = const record *;
    using reference = const record &;

    /* Where to: forwards, backwards, or forwards without an end. */
    enum class way { next, prev, wait };

    iterator() = default; /* the end */
    explicit iterator(std::shared_ptr<cursor> at, way goes = way::next) : at_(std::move(at)), goes_(goes) { ++*this; }
    const record &operator*() const noexcept { return now_; }
    const record *operator->() const noexcept { return &now_; }
    iterator &operator++()
    {
        std::optional<record> r = goes_ == way::prev ? at_->prev() : at_->next();
        while (!r && goes_ == way::wait) {
            (void)at_->wait();
            r = at_->next();
        }
        if (r) now_ = *r;
        else at_.reset();
        return *this;
    }
    friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return !(a == b); }

private:
    std::shared_ptr<cursor> at_;
    record now_;
    way goes_ = way::next;
};

/* What a cursor has in front of it, the last first. */
class log::backwards {
public:
    explicit backwards(cursor at) : at_(std::make_shared<cursor>(std::move(at))) {}
    iterator begin() const { return iterator(at_, iterator::way::prev); }
    iterator end() const { return {}; }

private:
    std::shared_ptr<cursor> at_;
};

/* What a followed cursor has, and what comes. */
class log::following {
public:
    explicit following(cursor at) : at_(std::make_shared<cursor>(std::move(at))) {}
    iterator begin() const { return iterator(at_, iterator::way::wait); }
    iterator end() const { return {}; }

private:
    std::shared_ptr<cursor> at_;
};

inline log::cursor log::records() const { return cursor(open()); }
inline log::cursor log::records(u9_range range) const
{
    range.size = sizeof range;
    return cursor(open(), &range);
}
inline log::cursor log::records(const u9_split_range &range) const { return cursor(open(), range); }
inline log::backwards log::reversed() const
{
    cursor at(open());
    at.to_end();
    return backwards(std::move(at));
}
inline log::cursor log::between(std::uint64_t since_us, std::uint64_t until_us) const
{
    u9_bounds bounds = {};
    bounds.to = U9_NOWHERE;
    bounds.since_us = since_us;
    bounds.until_us = until_us;
    cursor at(open());
    at.within(bounds);
    return at;
}
inline log::cursor log::since(std::uint64_t us) const { return between(us, U9_NOWHERE); }
template <class D> std::uint64_t micros(std::chrono::time_point<std::chrono::system_clock, D> time)
{
    auto us = std::chrono::ceil<std::chrono::microseconds>(time.time_since_epoch()).count();
    return us < 0 ? 0 : static_cast<std::uint64_t>(us);
}
template <class D> log::cursor log::since(std::chrono::time_point<std::chrono::system_clock, D> time) const
{
    return since(micros(time));
}
template <class D1, class D2>
log::cursor log::between(std::chrono::time_point<std::chrono::system_clock, D1> since,
                         std::chrono::time_point<std::chrono::system_clock, D2> until) const
{
    return between(micros(since), micros(until));
}
inline log::cursor log::from(const std::string &saved) const
{
    cursor at(open());
    at.to_saved(saved);
    return at;
}
inline log::following log::follow(u9_shown shows) const
{
    cursor at(open());
    at.follow(shows);
    return following(std::move(at));
}
inline log::iterator log::begin() const { return iterator(std::make_shared<cursor>(open())); }
inline log::iterator log::end() const { return {}; }
inline log::iterator log::cursor::begin() { return iterator(std::shared_ptr<cursor>(std::shared_ptr<void>(), this)); }
inline log::iterator log::cursor::end() { return {}; }

/* Several logs into one by key order (u9/merge.h). */
inline u9_merge_report merge(const std::string &out, const std::vector<std::string> &logs,
                             u9_merge_options options = {})
{
    std::vector<const char *> paths;
    u9_merge_report report = {};
    u9_fault fault = {};
    for (const std::string &path : logs) paths.push_back(path.c_str());
    report.size = sizeof report;
    options.size = sizeof options;
    u9::check(u9_merge(out.c_str(), paths.data(), paths.size(), &options, &report, &fault), fault);
    return report;
}

/* A record on its way into a log; given up, unless end() was reached. It goes before its log. */
class log::writing {
public:
    writing(u9_log *log, const u9_key *key, std::uint64_t count, std::uint64_t size) : log_(log)
    {
        done(u9_append_begin(log, key, count, size, &append_, nullptr));
    }
    writing(writing &&other) noexcept : log_(other.log_), append_(std::exchange(other.append_, nullptr)) {}
    writing &operator=(writing &&other) noexcept
    {
        std::swap(log_, other.log_);
        std::swap(append_, other.append_);
        return *this;
    }
    ~writing() { u9_append_abort(append_); }
    /* The next bytes of the values. */
    writing &write(const void *p, std::size_t n)
    {
        done(u9_append_write(append_, p, n));
        return *this;
    }
    /* The head of a text or of bytes, whose contents come next. */
    writing &head(u9_type type, std::uint64_t size)
    {
        std::uint8_t front[9];
        return write(front, u9_value_head(type, size, front));
    }
    std::uint64_t taken() const noexcept { return u9_append_taken(append_); }
    u9_place end()
    {
        u9_place place = {};
        done(u9_append_end(append_, &place));
        append_ = nullptr;
        return place;
    }

private:
    void done(u9_err err) const
    {
        u9_fault fault = {};
        if (err != U9_OK) u9_log_fault(log_, &fault);
        u9::check(err, fault);
    }
    u9_log *log_ = nullptr;
    u9_append *append_ = nullptr;
};

inline log::writing log::begin(std::uint64_t count, std::uint64_t size, const u9_key *key)
{
    return writing(open(), key, count, size);
}

/* A record that is read in pieces. */
class log::reading {
public:
    reading(u9_log *log, const record &which)
    {
        u9_fault fault = {};
        u9::check(u9_record_open(log, &which.raw(), &reading_, &fault), fault);
    }
    reading(reading &&other) noexcept : reading_(std::exchange(other.reading_, nullptr)) {}
    reading &operator=(reading &&other) noexcept
    {
        std::swap(reading_, other.reading_);
        return *this;
    }
    ~reading() { u9_record_close(reading_); }
    /* Up to n bytes from `offset` on, verified; how many: 0 at the record's end. */
    std::size_t read(std::uint64_t offset, void *p, std::size_t n)
    {
        std::size_t got = 0;
        u9_fault fault = {};
        u9_err err = u9_record_read(reading_, offset, p, n, &got, &fault);
        if (err != U9_END) u9::check(err, fault);
        return got;
    }

private:
    u9_reading *reading_ = nullptr;
};

inline log::reading log::read(const record &which) const { return reading(open(), which); }

/* A refused identifier as an exception: U9_ARG, and the sentence for the reason. */
inline error id_error(u9_err code, u9_id_reason why)
{
    u9_fault fault = {};
    fault.err = code;
    fault.segment = fault.offset = U9_NOWHERE;
    if (why != U9_ID_FINE) std::string(u9_id_reason_text(why)).copy(fault.text, sizeof fault.text - 1);
    return error(code, fault);
}

inline void check_id(u9_err code, u9_id_reason why = U9_ID_FINE)
{
    if (code != U9_OK) throw id_error(code, why);
}

/*
 * Identifiers: the structs of u9/id.h with their functions, ordered as their packed bytes [I-18]. A
 * constructor with fields throws U9_ARG if one is out of range, and so do pack() and text(). What is parsed and refused throws U9_ARG with the
 * reason. floor and ceil are the lowest and the highest of a time [I-19].
 */
template <class Id> struct ordered {
    friend bool operator==(const Id &a, const Id &b) noexcept { return a.compare(b) == 0; }
    friend bool operator!=(const Id &a, const Id &b) noexcept { return a.compare(b) != 0; }
    friend bool operator<(const Id &a, const Id &b) noexcept { return a.compare(b) < 0; }
    friend bool operator>(const Id &a, const Id &b) noexcept { return a.compare(b) > 0; }
    friend bool operator<=(const Id &a, const Id &b) noexcept { return a.compare(b) <= 0; }
    friend bool operator>=(const Id &a, const Id &b) noexcept { return a.compare(b) >= 0; }
};

struct muid : u9_muid, ordered<muid> {
    muid() : u9_muid{} {}
    muid(const u9_muid &raw) : u9_muid(raw) {}
    muid(std::uint64_t time_us, std::uint64_t node, std::int32_t place) : u9_muid{time_us, node, place}
    {
        (void)pack();
    }
    static muid parse(std::string_view text, unsigned flags = 0)
    {
        muid id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_muid_parse(text.data(), text.size(), flags, &id, &why);
        check_id(err, why);
        return id;
    }
    static muid unpack(bytes packed)
    {
        muid id;
        if (packed.size != U9_MUID_SIZE) throw error(U9_ARG);
        u9_muid_unpack(packed.data, &id);
        return id;
    }
    static muid floor(std::uint64_t time_us)
    {
        muid id;
        check_id(u9_muid_floor(time_us, &id));
        return id;
    }
    static muid ceil(std::uint64_t time_us)
    {
        muid id;
        check_id(u9_muid_ceil(time_us, &id));
        return id;
    }
    int compare(const muid &other) const noexcept { return u9_muid_compare(this, &other); }
    std::array<std::uint8_t, U9_MUID_SIZE> pack() const
    {
        std::array<std::uint8_t, U9_MUID_SIZE> out = {};
        check_id(u9_muid_pack(this, out.data()));
        return out;
    }
    std::string text() const
    {
        char out[U9_MUID_TEXT_SIZE + 1];
        check_id(u9_muid_format(this, out));
        return out;
    }
};

/* `flags` as in u9/id.h: 0, U9_GID_STRICT or U9_GID_LENIENT. */
struct gid : u9_gid, ordered<gid> {
    gid() : u9_gid{} {}
    gid(const u9_gid &raw) : u9_gid(raw) {}
    gid(u9_gid_type kind, std::uint64_t time_ms, const std::array<std::uint8_t, U9_GID_RANDOM_SIZE> &noise)
        : u9_gid{kind, time_ms, {}}
    {
        std::memcpy(random, noise.data(), noise.size());
        (void)pack();
    }
    static gid parse(std::string_view text, u9_gid_type type = U9_GID_ANY, unsigned flags = 0)
    {
        gid id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_gid_parse(text.data(), text.size(), type, flags, &id, &why);
        check_id(err, why);
        return id;
    }
    static gid unpack(bytes packed, u9_gid_type type = U9_GID_ANY, unsigned flags = 0)
    {
        gid id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_gid_unpack(packed.data, packed.size, type, flags, &id, &why);
        check_id(err, why);
        return id;
    }
    static gid floor(u9_gid_type type, std::uint64_t time_ms, unsigned flags = 0)
    {
        gid id;
        check_id(u9_gid_floor(type, time_ms, flags, &id));
        return id;
    }
    static gid ceil(u9_gid_type type, std::uint64_t time_ms, unsigned flags = 0)
    {
        gid id;
        check_id(u9_gid_ceil(type, time_ms, flags, &id));
        return id;
    }
    /* Stands for none [I-20]; `is_empty` also knows the older form. */
    static gid empty(u9_gid_type type)
    {
        gid id;
        check_id(u9_gid_empty(type, &id));
        return id;
    }
    bool is_empty() const noexcept { return u9_gid_is_empty(this) != 0; }
    int compare(const gid &other) const noexcept { return u9_gid_compare(this, &other); }
    std::array<std::uint8_t, U9_GID_SIZE> pack(unsigned flags = 0) const
    {
        std::array<std::uint8_t, U9_GID_SIZE> out = {};
        check_id(u9_gid_pack(this, flags, out.data()));
        return out;
    }
    std::string text(unsigned flags = 0) const
    {
        char out[U9_GID_TEXT_SIZE + 1];
        check_id(u9_gid_format(this, flags, out));
        return out;
    }
    /* The 13 digits behind the dash, for people. */
    std::string short_text(unsigned flags = 0) const
    {
        char out[U9_GID_SHORT_SIZE + 1];
        check_id(u9_gid_format_short(this, flags, out));
        return out;
    }
};

/* `flags`: 0 or U9_TID_TOP_BIT. The text is also a record key of the type `tid`. */
struct tid : u9_tid, ordered<tid> {
    tid() : u9_tid{} {}
    tid(const u9_tid &raw) : u9_tid(raw) {}
    /* The TID of a time. */
    tid(std::uint64_t time_us, std::uint32_t clock, unsigned flags = 0) : u9_tid{}
    {
        check_id(u9_tid_from_time(time_us, clock, flags, this));
    }
    static tid parse(std::string_view text, unsigned flags = 0)
    {
        tid id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_tid_parse(text.data(), text.size(), flags, &id, &why);
        check_id(err, why);
        return id;
    }
    static tid unpack(bytes packed, unsigned flags = 0)
    {
        tid id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_tid_unpack(packed.data, packed.size, flags, &id, &why);
        check_id(err, why);
        return id;
    }
    static tid floor(std::uint64_t time_us, unsigned flags = 0)
    {
        tid id;
        check_id(u9_tid_floor(time_us, flags, &id));
        return id;
    }
    static tid ceil(std::uint64_t time_us, unsigned flags = 0)
    {
        tid id;
        check_id(u9_tid_ceil(time_us, flags, &id));
        return id;
    }
    int compare(const tid &other) const noexcept { return u9_tid_compare(this, &other); }
    std::array<std::uint8_t, U9_TID_SIZE> pack(unsigned flags = 0) const
    {
        std::array<std::uint8_t, U9_TID_SIZE> out = {};
        check_id(u9_tid_pack(this, flags, out.data()));
        return out;
    }
    std::string text(unsigned flags = 0) const
    {
        char out[U9_TID_TEXT_SIZE + 1];
        check_id(u9_tid_format(this, flags, out));
        return out;
    }
};

/* An eight-byte identifier. `layout`: 1 to U9_UID8_LAYOUT_MAX. */
struct uid8 : u9_uid8, ordered<uid8> {
    uid8() : u9_uid8{} {}
    uid8(const u9_uid8 &raw) : u9_uid8(raw) {}
    uid8(std::uint64_t time_ms, std::uint32_t place, std::uint32_t maker, std::uint32_t group,
         u9_uid8_mode written = U9_UID8_SPREAD, unsigned layout = U9_UID8_LAYOUT_MAX)
        : u9_uid8{time_ms, place, maker, group, written}
    {
        (void)pack(layout);
    }
    static uid8 parse(std::string_view text, unsigned layout = U9_UID8_LAYOUT_MAX)
    {
        uid8 id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_uid8_parse(text.data(), text.size(), layout, &id, &why);
        check_id(err, why);
        return id;
    }
    static uid8 unpack(bytes packed, unsigned layout = U9_UID8_LAYOUT_MAX)
    {
        uid8 id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_uid8_unpack(packed.data, packed.size, layout, &id, &why);
        check_id(err, why);
        return id;
    }
    static uid8 floor(std::uint64_t time_ms, u9_uid8_mode mode, unsigned layout = U9_UID8_LAYOUT_MAX)
    {
        uid8 id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_uid8_floor(time_ms, mode, layout, &id, &why);
        check_id(err, why);
        return id;
    }
    static uid8 ceil(std::uint64_t time_ms, u9_uid8_mode mode, unsigned layout = U9_UID8_LAYOUT_MAX)
    {
        uid8 id;
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_uid8_ceil(time_ms, mode, layout, &id, &why);
        check_id(err, why);
        return id;
    }
    int compare(const uid8 &other) const noexcept { return u9_uid8_compare(this, &other); }
    std::array<std::uint8_t, U9_UID8_SIZE> pack(unsigned layout = U9_UID8_LAYOUT_MAX) const
    {
        std::array<std::uint8_t, U9_UID8_SIZE> out = {};
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_uid8_pack(this, layout, out.data(), &why);
        check_id(err, why);
        return out;
    }
    std::string text(unsigned layout = U9_UID8_LAYOUT_MAX) const
    {
        char out[U9_UID8_TEXT_SIZE + 1];
        u9_id_reason why = U9_ID_FINE;
        u9_err err = u9_uid8_format(this, layout, out, &why);
        check_id(err, why);
        return out;
    }
};

/* Orders record keys; so does std::string_view itself. [I-18] */
inline int compare_rkeys(std::string_view a, std::string_view b) noexcept
{
    return u9_rkey_compare(a.data(), a.size(), b.data(), b.size());
}

/* What the generators share: a handle that is moved, not copied, and freed with the object. */
template <class Gen, void (*Free)(Gen *)> class generator {
public:
    generator(generator &&other) noexcept : gen_(std::exchange(other.gen_, nullptr)) {}
    generator &operator=(generator &&other) noexcept
    {
        std::swap(gen_, other.gen_);
        return *this;
    }
    ~generator() { Free(gen_); }
    Gen *raw() const noexcept { return gen_; }

protected:
    template <class Options, class New> generator(Options options, New &&make)
    {
        u9_fault fault = {};
        options.size = sizeof options;
        u9::check(make(&options, &gen_, &fault), fault);
    }
    Gen *open() const
    {
        if (!gen_) throw error(U9_STATE);
        return gen_;
    }

private:
    Gen *gen_ = nullptr;
};

/*
 * Generators of u9/idgen.h; each may be used by any number of threads at once. next() makes one,
 * next_n(n) a batch in one step [I-21], all or none: what fails throws.
 */
class muid_generator : public generator<u9_muidgen, u9_muidgen_free> {
public:
    explicit muid_generator(const u9_muidgen_options &options = {}) : generator(options, u9_muidgen_new) {}
    muid next()
    {
        muid id;
        u9::check(u9_muidgen_next(open(), &id));
        return id;
    }
    std::vector<muid> next_n(std::size_t n)
    {
        std::vector<u9_muid> raw(n);
        u9::check(u9_muidgen_next_n(open(), raw.data(), n));
        return {raw.begin(), raw.end()};
    }
};

class gid_generator : public generator<u9_gidgen, u9_gidgen_free> {
public:
    explicit gid_generator(const u9_gidgen_options &options = {}) : generator(options, u9_gidgen_new) {}
    gid next(u9_gid_type type)
    {
        gid id;
        u9::check(u9_gidgen_next(open(), type, &id));
        return id;
    }
    std::vector<gid> next_n(u9_gid_type type, std::size_t n)
    {
        std::vector<u9_gid> raw(n);
        u9::check(u9_gidgen_next_n(open(), type, raw.data(), n));
        return {raw.begin(), raw.end()};
    }
};

class tid_generator : public generator<u9_tidgen, u9_tidgen_free> {
public:
    explicit tid_generator(const u9_tidgen_options &options = {}) : generator(options, u9_tidgen_new) {}
    /* Above `prev` too, if there is one. */
    tid next(const tid *prev = nullptr)
    {
        tid id;
        u9::check(u9_tidgen_next(open(), prev, &id));
        return id;
    }
    std::vector<tid> next_n(std::size_t n, const tid *prev = nullptr)
    {
        std::vector<u9_tid> raw(n);
        u9::check(u9_tidgen_next_n(open(), prev, raw.data(), n));
        return {raw.begin(), raw.end()};
    }
};

class uid8_generator : public generator<u9_uid8gen, u9_uid8gen_free> {
public:
    /* `options` has the number of the generator, which no other may use in its cluster. */
    explicit uid8_generator(const u9_uid8gen_options &options) : generator(options, u9_uid8gen_new) {}
    uid8 next()
    {
        uid8 id;
        u9::check(u9_uid8gen_next(open(), &id));
        return id;
    }
    /* Fewer than `n` if the clock stands still: then as many as it gave. Throws if that is none. */
    std::vector<uid8> next_n(std::size_t n)
    {
        std::vector<u9_uid8> raw(n);
        std::size_t made = 0;
        u9_err err = u9_uid8gen_next_n(open(), raw.data(), n, &made);
        if (made == 0) u9::check(err);
        raw.resize(made);
        return {raw.begin(), raw.end()};
    }
};

} /* namespace u9 */

template <> struct std::hash<u9::value> {
    std::size_t operator()(const u9::value &v) const noexcept { return static_cast<std::size_t>(v.hash()); }
};

#endif
