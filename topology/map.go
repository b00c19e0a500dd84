package topology

// KeyValue is a key and a value, as [FlatMap] returns them.
type KeyValue[K, V any] struct {
	Key   K
	Value V
}

// Map makes one key and value out of each. A changed key does not move the
// record to another partition until a [Stream.Repartition]; the key that fn
// returns is never null, even if it is the zero key it was given for a null one.
func Map[K, V, K2, V2 any](s Stream[K, V], name string, fn func(key K, value V) (K2, V2, error)) Stream[K2, V2] {
	out, n := derive[K2, V2](s, kindMap, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		k2, v2, err := fn(k, v)
		if err != nil {
			return x.fail(err)
		}
		return out.pushKeyed(x, k2, v2)
	})
	return out
}

// MapValues makes one value out of each and keeps the key.
func MapValues[K, V, V2 any](s Stream[K, V], name string, fn func(value V) (V2, error)) Stream[K, V2] {
	out, n := derive[K, V2](s, kindMapValues, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		v2, err := fn(v)
		if err != nil {
			return x.fail(err)
		}
		return out.push(x, k, v2)
	})
	return out
}

// FlatMap makes any number of keys and values out of each, in the order of the
// slice returned. What [Map] says of keys holds here too.
func FlatMap[K, V, K2, V2 any](s Stream[K, V], name string, fn func(key K, value V) ([]KeyValue[K2, V2], error)) Stream[K2, V2] {
	out, n := derive[K2, V2](s, kindFlatMap, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		pairs, err := fn(k, v)
		if err != nil {
			return x.fail(err)
		}
		for _, p := range pairs {
			if err := out.pushKeyed(x, p.Key, p.Value); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}

// FlatMapValues makes any number of values out of each, in the order of the
// slice returned, and keeps the key.
func FlatMapValues[K, V, V2 any](s Stream[K, V], name string, fn func(value V) ([]V2, error)) Stream[K, V2] {
	out, n := derive[K, V2](s, kindFlatMapValues, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		values, err := fn(v)
		if err != nil {
			return x.fail(err)
		}
		for _, v2 := range values {
			if err := out.push(x, k, v2); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}

// SelectKey gives each record another key and keeps the value. What [Map] says
// of keys holds here too.
func SelectKey[K, V, K2 any](s Stream[K, V], name string, fn func(key K, value V) (K2, error)) Stream[K2, V] {
	out, n := derive[K2, V](s, kindSelectKey, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		k2, err := fn(k, v)
		if err != nil {
			return x.fail(err)
		}
		return out.pushKeyed(x, k2, v)
	})
	return out
}
