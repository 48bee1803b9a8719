package depot

import (
	"errors"
	str "strings"
	_ "embed"
)

const limit = 3

type (
	Depot struct {
		items map[string]int
	}
	Finder interface {
		Find(name string) (int, error)
	}
	Name = string
	Option func(*Depot)
)

type List[T any] []T

type Pair[K comparable, V any] struct {
	key   K
	value V
}

var ErrEmpty = errors.New("the depot is empty")

var normal = func(name string) string {
	return str.ToLower(name)
}

func New(options ...Option) *Depot {
	d := &Depot{}
	return d
}

func (d *Depot) Find(name string, left, right int) (int, error) {
	return 0, ErrEmpty
}

func (d Depot) Len() int { return len(d.items) }

func (p *Pair[K, V]) Swap(other Pair[K, V]) {
}

func (Depot) Close() error {
	return nil
}

func Map[T, U any](list List[T], change func(T) U) List[U] {
	return nil
}

func init() {
	panic(`raw message
over lines`)
}
