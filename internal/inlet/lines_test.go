package inlet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

func readLines(t testing.TB, r *LineReader, body, precision string) (got []string, n Lines) {
	t.Helper()
	n, err := r.Read([]byte(body), precision, nobody, func(items []Item, _ []byte) {
		for i := range items {
			if !items[i].Split || !items[i].Readings[0].Empty() {
				got = append(got, shortItem(&items[i])...)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, n
}

// nobody is bound.
func nobody(string, string) []*Binding { return nil }

func TestLines(t *testing.T) {
	for _, c := range []struct{ precision, body, want string }{
		{"", `modbus,host=pi,name=ak-cc-1,slave_id=1 air_temp=-18.5,setpoint_temp=-20,defrost_active=true 1795202410000000000`, "ak-cc-1/1 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5 setpoint_temp=-20 defrost_active=true"},
		{"s", `t,device_serial=F-1,host=pi temperature=4i 1795202410`, "F-1 at 2026-11-20T19:20:10.000Z product_zone_temp=4"},
		{"ms", `t,device=F-1 temp_f=39.2 1795202410123`, "F-1 at 2026-11-20T19:20:10.123Z product_zone_temp=4"},
		{"us", `t,device=F-1 temperature=4u 1795202410123000`, "F-1 at 2026-11-20T19:20:10.123Z product_zone_temp=4"},
		{"", `t,device=F-1 temperature=4`, "F-1 product_zone_temp=4"},
		{"", `t temperature=4,battery=55`, " product_zone_temp=4 battery=55"},
		{"", `temperature,device=F-1 value=4`, "F-1 product_zone_temp=4"},
		{"", `temperature_F,device=F-1 value=39.2`, "F-1 product_zone_temp=4"},
		// Telegraf's plugins: mqtt_consumer names the message by its topic, opcua the node by its id.
		{"", `mqtt_consumer,host=pi,topic=shop/cooler/temperature value=4`, "shop/cooler/temperature product_zone_temp=4"},
		{"", `mqtt_consumer,host=pi,topic=shop/cooler/uptime value=4`, "shop/cooler/uptime"},
		{"", `opcua,host=pi,id=ns\=2;s\=Cooler.Temp CoolerTemp=4`, "ns=2;s=Cooler.Temp product_zone_temp=4"},
		{"", `ruuvi_measurements,host=pi,mac=C0FFEE temperature=4`, "C0FFEE product_zone_temp=4"},
		{"", `t,device=F-1 temp1=4,temp2=5`, "F-1/1 product_zone_temp=4; F-1/2 product_zone_temp=5"},
		{"", `t,device=F-1 temp1=4,temp2=5,humidity=60`, "F-1 humidity=60; F-1/1 product_zone_temp=4; F-1/2 product_zone_temp=5"},
		{"", `t,device=F-1 temperature=-127`, "F-1 product_zone_temp=fault"},
		{"", `°C,domain=sensor,entity_id=walk_in value=-18.5,friendly_name_str="Walk-in" 1795202410000000000`, "sensor.walk_in at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5"},
		{"", `°F,domain=sensor,entity_id=walk_in value=14`, "sensor.walk_in product_zone_temp=-10"},
		{"", `%,domain=sensor,entity_id=walk_in_humidity value=60`, "sensor.walk_in_humidity humidity=60"},
		{"", `%,domain=sensor,entity_id=walk_in_battery value=60`, "sensor.walk_in_battery battery=60"},
		{"", `%,domain=sensor,entity_id=walk_in_battery value=87.5`, "sensor.walk_in_battery battery=87.5"},
		{"", `V,domain=sensor,entity_id=walk_in_battery_voltage value=2.9`, "sensor.walk_in_battery_voltage battery=87"},
		{"", `sensor.fridge_battery_low,domain=binary_sensor,entity_id=fridge_battery,device_class=battery state="on",value=1`, "binary_sensor.fridge_battery low=true"},
		{"", `snmp,agent_host=10.0.0.9,sensorName=Walk-in tempSensorTenthsC=-185i`, "Walk-in product_zone_temp=-18.5"},
		{"", `t,device=x temperature=3.5,door_closed=t`, "x product_zone_temp=3.5 door_open=false"},
		{"", `t temperature=4,battery_voltage=2.9`, " product_zone_temp=4 battery=87"},
		{"", `t temperature=4,battery=2.9`, " product_zone_temp=4 battery=87"},
		{"", `t temperature=4,battery=3i`, " product_zone_temp=4"},
		{"", `t temperature=4,vbat=3600i,battery=70i`, " product_zone_temp=4 battery=70"},
		{"", `t temperature=4,battery_low=t,rssi=-70i`, " product_zone_temp=4 rssi=-70 low=true"},
		{"", `rtl_433,model=Ambient-X,id=77 temperature_C=2.5,battery_ok=0i`, "77 product_zone_temp=2.5 low=true"},
		{"", `%,domain=sensor,entity_id=disk_use value=60`, "sensor.disk_use"},
		{"", `°C,domain=sensor,entity_id=cpu_temperature value=60`, "sensor.cpu_temperature"},
		{"", `kW,domain=sensor,entity_id=walk_in_power value=1.5`, "sensor.walk_in_power power=1500"},
		{"", `cpu,host=a usage=3`, "a"},
		{"", `temp,host=pi,location=top value=3.5`, "pi/top product_zone_temp=3.5"},
		{"", `temp,device=pi,sensor_id=28-01 value=3.5`, "pi/28-01 product_zone_temp=3.5"},
		{"", `t,device=F-1 temperature=4,compressor_on=1u,defrost_active=0i`, "F-1 product_zone_temp=4 compressor_on=true defrost_active=false"},
		{"", `t,device=F\ 1\,x temperature=4`, "F 1,x product_zone_temp=4"},
	} {
		got, n := readLines(t, new(LineReader), c.body, c.precision)
		if strings.Join(got, "; ") != c.want || n.Bad != 0 {
			t.Errorf("%s: %q %+v, want %q", c.body, got, n, c.want)
		}
	}
}

// TestBadLines: a bad line costs itself, and the first of them is explained.
func TestBadLines(t *testing.T) {
	body := "t,device=a temperature=1 1795202410000000000\n" +
		"t,device=b temperature=2 1795202410\n" +
		"no fields here\n" +
		"t,device=c temperature=\"\n" +
		"t,device=d temperature=4 1795202410000000000\r\n"
	got, n := readLines(t, new(LineReader), body, "")
	if diff := cmp.Diff([]string{"a at 2026-11-20T19:20:10.000Z product_zone_temp=1"}, got[:1]); diff != "" {
		t.Error(diff)
	}
	if n.Bad < 2 || rimewatch.SentenceOf(n.Problem).String() != "line 2: the time is not a time in nanoseconds from 2015 to 2106; it looks like seconds" {
		t.Errorf("%+v", n)
	}
	if _, err := new(LineReader).Read([]byte(body), "h", nobody, func([]Item, []byte) {}); !hasField(err, "precision") {
		t.Errorf("precision h: %v", err)
	}
}

// TestSeries: what is remembered of a series reads later lines as the first, also
// where the first held a text.
func TestSeries(t *testing.T) {
	var r LineReader
	for round, want := range []string{"", "x product_zone_temp=4", "x product_zone_temp=5", "", "x product_zone_temp=6"} {
		line := []string{`t,device=x temperature="unavailable"`, `t,device=x temperature=4`, `t,device=x temperature=5`, `t,device=x temperature="off"`, `t,device=x temperature="6"`}[round]
		got, _ := readLines(t, &r, line, "")
		if s := strings.Join(got, ""); s != want && s != strings.TrimSpace("x") {
			t.Errorf("%s: %q, want %q", line, s, want)
		}
	}
	for i := range 2 * maxSeries {
		readLines(t, &r, fmt.Sprintf("t,device=d%d temperature=1", i), "")
	}
	if len(r.series) > maxSeries {
		t.Errorf("%d series are remembered", len(r.series))
	}
}

// TestBoundLine: a binding with rules reads the parts of a line.
func TestBoundLine(t *testing.T) {
	b, err := NewBinding("F-1", map[string]Rule{"product_zone_temp": {From: "payload.fields.s3", Unit: "°F"}, "door_open": {From: "payload.tags.door == 'open'"}})
	if err != nil {
		t.Fatal(err)
	}
	var r Reading
	_, err = new(LineReader).Read([]byte("m,device=x,door=open s3=14i,s4=7 1795202410"), "s", func(string, string) []*Binding { return []*Binding{b} }, func(items []Item, _ []byte) { r = items[0].Readings[0] })
	if err != nil {
		t.Fatal(err)
	}
	got := shortItem(&Item{ID: r.Serial, At: r.Reading.At, Readings: []Reading{r}})
	if diff := cmp.Diff([]string{"F-1 as F-1 at 2026-11-20T19:20:10.000Z product_zone_temp=-10 door_open=true"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPlainLines: a line of a series that is known is read as the first of it was,
// whichever way is taken.
func TestPlainLines(t *testing.T) {
	head := "m,device=x,t=é"
	for _, value := range []string{"4", "-4", "0", "-0", "4.25", "-0.05", "007", "123456789012345", "1234567890123456", "12345678901.2345", "1.23456789012345678",
		".5", "5.", "1e2", "-1E-2", "+5", "--5", "5-", "1.2.3", "0x10", "1_0", "inf", "NaN", "", "-", "-i", "i", "4i", "-4i", "4u", "-4u", "4.5i", "1i", "99999999999999999999i",
		"t", "f", "T", "true", "false", "TRUE", "tr", `"4"`, `"on"`, `"a b"`, `"a,b=3"`, "4 ", " 4", "4\r", "4\\ "} {
		for _, moment := range []string{"", " 1795202410000000000", " 1795202410", " -1", " 9999999999999999999", " 179520241000000000000", "  1795202410000000000", " 17952024x", " 1795202410000000000 ", " 1795202410000000000\r"} {
			line := head + " temperature=" + value + ",compressor_on=" + value + moment + "\n"
			var slow, r LineReader
			readLines(t, &slow, head+" temperature=7e0,compressor_on=1i\n", "") // not plain
			want, first := readLines(t, &slow, line, "")
			readLines(t, &r, head+" temperature=7,compressor_on=1i\n", "")
			got, n := readLines(t, &r, line, "")
			if diff := cmp.Diff(want, got); diff != "" || n != first {
				t.Errorf("%q: %+v, want %+v\n%s", line, n, first, diff)
			}
		}
	}
}

// TestPlainLinesOtherFields: the names of the fields are part of what is known.
func TestPlainLinesOtherFields(t *testing.T) {
	var r LineReader
	for range 2 {
		for _, c := range []struct{ line, want string }{
			{"m,device=x temperature=4,humidity=60", "x product_zone_temp=4 humidity=60"},
			{"m,device=x humidity=60,temperature=4", "x product_zone_temp=4 humidity=60"},
			{"m,device=x humidity=60", "x humidity=60"},
			{"m,device=x humidity=60,,temperature=4", ""},
			{"m,device=x humidity=60,", ""},
			{"m,device=y humidity=60", "y humidity=60"},
			{`m,device=y\ z humidity=60`, "y z humidity=60"},
			{"#m,device=y humidity=60", ""},
		} {
			if got, _ := readLines(t, &r, c.line, ""); strings.Join(got, "; ") != c.want {
				t.Errorf("%s: %q, want %q", c.line, got, c.want)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("t,device=a temperature=1,battery=3i 1795202410000000000\n°C,domain=sensor,entity_id=x value=4", "ns")
	f.Fuzz(func(t *testing.T, body, precision string) {
		var r LineReader
		var ways [2][]string // of lines that are new, and known
		for i := range ways {
			_, _ = r.Read([]byte(body), precision, nobody, func(items []Item, _ []byte) {
				for _, s := range shortItem(&items[0]) { // a text is nothing in a series that is known
					if strings.Contains(s, "=") {
						ways[i] = append(ways[i], s)
					}
				}
			})
		}
		if diff := cmp.Diff(ways[0], ways[1]); diff != "" {
			t.Error(diff)
		}
		_, _ = r.Read([]byte(body), precision, nobody, func(items []Item, _ []byte) {
			for f, v := range items[0].Readings[0].Reading.All() {
				if !f.Accepts(v) {
					t.Errorf("%v = %v", f, v)
				}
			}
		})
	})
}

// BenchmarkLines reads 1,000 lines of 100 senders with three measurements each.
func BenchmarkLines(b *testing.B) {
	var body strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&body, "modbus,host=pi,name=ak-cc-%d temperature=-18.5,humidity=61.5,setpoint_temp=-20 %d\n", i%100, 1795202410000000000+int64(i)*int64(rimewatch.Millisecond)*1e6)
	}
	text := []byte(body.String())
	var r LineReader
	for b.Loop() {
		n := 0
		if _, err := r.Read(text, "", nobody, func([]Item, []byte) { n++ }); n != 1000 || err != nil {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/line")
}
