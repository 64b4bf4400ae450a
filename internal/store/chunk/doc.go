// Package chunk is the form in which readings lie in the commit log, in memory
// and on disk. It is pure: bytes in, values out.
//
// # Rows
//
// AppendReading and DecodeReading pack one reading for the log and for the
// in-memory heads, typically in 20–24 bytes, with both times exact to the
// millisecond. Numbers are kept as an integer and a power of ten wherever that
// gives the very same float64 back (m/10^e with |m| ≤ 2^53 and e ≤ 17 is
// correctly rounded by IEEE division), and as their 8 bytes otherwise. A row
// names no length, no version and no checksum: the log frames its rows.
//
// # Chunks
//
// Encode packs the readings of one device into columns: the time, the arrival,
// the sets of fields, the observations and every measurement by itself, so that one
// field is read without touching the others. A column of equal values is one
// value. Any other is cut into blocks of blockLen integers, a measurement being
// an integer with one decimal scale per block; the few values of a block that
// do not fit its scale lie beside it as raw bits, and a block in which most do
// not fit holds the bits of its float64s as integers. Each block picks the
// shortest of
//
//   - a constant, or a straight line (a constant step);
//   - the offsets from its least value in a fixed number of bits, after a
//     constant step has been taken away: the best there is for times with
//     independent jitter;
//   - adaptive Rice codes of the difference to a prediction, which is either the
//     last value or a running mean (less noise in the prediction, for slow and
//     noisy sensors). Compressors make amps and vibration jump between two
//     levels; the code therefore remembers the level it came from, with that
//     level's own noise, and a jump back costs a few bits.
//
// A common divisor is taken out first (sensors that step by 0.5 or by 1/16).
//
// The chunk starts with a version byte and ends with the CRC-32C of everything
// before it. Decoding checks it and stays within the bounds of its input and
// of MaxReadings whatever the bytes are.
//
// # New measurements
//
// Fields, observations and columns are named by numbers that never change, and
// sets of them are uvarints, written as the difference from the core measurements:
// a device that sends just those pays nothing for the others. So a measurement
// that is added leaves everything readable that was written before. One that this
// program has no name for, because a later one added it, is kept through sealing
// and merging like the others; what does not fit its sets, and versions and
// columns that it does not know, are refused as such, not as damage.
//
// # What a chunk does not keep
//
// ReceivedAt comes back as Received, which is what all answers say, whether a reading
// lies in a chunk or not: it is a hint how late a reading came, and its milliseconds are
// noise that would cost a byte a reading. Values of absent core measurements come
// back as 0.
//
// # Buckets
//
// A Summary, which starts with a version, goes beside each chunk: count, minimum, maximum and sum of every
// field. Buckets aggregates readings into steps aligned to UTC and takes whole
// summaries for chunks that lie inside one step. What a counter counted depends on the
// order of its values: a summary says it by itself where the counter restarted, for the hours
// whose readings expire; where the readings are there, they are asked.
package chunk
