// Package evaluate measures the failure predictor on recorded data.
//
// Public machine data carry labels but are not refrigerators. The formats skab,
// nab and ims read them in the layout in which they are published and run
// detector.Detector over every file, with the one detector.DefaultTuning, row by
// row: a verdict never depends on later rows. Only the length of learning comes
// from the format: 400 rows for skab, 15 % of the file for nab and ims. The
// labels are read for scoring alone.
//
// Each run writes verdicts.csv (file, row, score, alarm, changepoint; rows count
// from 0) and prints the metrics of the data's own scorers:
//
//   - skab: point-wise F1, false-alarm and missed-alarm rate pooled over all
//     rows from the 400th; NAB score of change points with a window of 60 s to
//     the right; alert episodes as an operator would count them;
//   - nab: windows found and the standard-profile score, where a detection is the
//     opening of an alarm;
//   - ims: for every bearing when it alarmed and how long before the end. One
//     machine has one alarm; it names the bearing whose shift is greatest, and
//     what neighbours pick up through the shaft and the frame is not an alarm of
//     theirs. Files of verdicts are then named file#column.
//
// A point-wise F1 rewards an alarm that simply stays on, so the report sets it
// beside what a constant alarm and the best fixed clock reach on the same labels.
package evaluate
