package storetest

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// EachField yields a device for each field of rimewatch.Device, by its name, with this
// field alone set to a value that is not zero.
func EachField() iter.Seq2[string, rimewatch.Device] {
	return func(yield func(string, rimewatch.Device) bool) {
		kind := reflect.TypeFor[rimewatch.Device]()
		for i := range kind.NumField() {
			var d rimewatch.Device
			fill(reflect.ValueOf(&d).Elem().Field(i))
			if !yield(kind.Field(i).Name, d) {
				return
			}
		}
	}
}

// fill sets v and all below it to values that are not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("fill does not know %s", v.Type()))
	}
}

// deviceFields creates a device with each field alone, and reads it back everywhere.
func (f *fixture) deviceFields() {
	want := map[string]rimewatch.Device{}
	for name, d := range EachField() {
		switch name {
		case "ID", "WorkspaceID", "Serial", "CreatedAt", "UpdatedAt", "DeletedAt": // the store sets them
			continue
		case "WorkspaceLimits": // no field of the device: filled where it is judged
			continue
		}
		d.WorkspaceID, d.Serial = f.workspace, "F-"+name
		op := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: d.Serial, Create: &d})
		f.must(op.Err)
		d.ID, d.CreatedAt, d.UpdatedAt = op.Device.ID, op.Device.CreatedAt, op.Device.UpdatedAt
		want[name] = d
	}
	f.everywhere(func(where string) {
		for name, d := range want {
			v, err := f.s.Device(f.ctx, f.workspace, d.Serial)
			f.must(err)
			f.equal(where+": "+name, v.Device, d)
		}
	})
}
