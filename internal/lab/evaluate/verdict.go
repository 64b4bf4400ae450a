package evaluate

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
)

// verdictWriter writes verdicts.csv.
type verdictWriter struct {
	file *os.File
	buf  *bufio.Writer
	csv  *csv.Writer
}

func createVerdicts(path string) (*verdictWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	buf := bufio.NewWriterSize(f, 1<<16)
	w := &verdictWriter{f, buf, csv.NewWriter(buf)}
	return w, w.csv.Write([]string{"file", "row", "score", "alarm", "changepoint"})
}

func (w *verdictWriter) write(file string, row int, score float64, alarm, changepoint bool) error {
	return w.csv.Write([]string{file, strconv.Itoa(row), strconv.FormatFloat(score, 'f', 4, 64), bit(alarm), bit(changepoint)})
}

func (w *verdictWriter) writeAll(file string, j *judged) error {
	for i := range j.score {
		if err := w.write(file, i, j.score[i], j.alarm[i], j.changepoint[i]); err != nil {
			return fmt.Errorf("evaluate: %w", err)
		}
	}
	return nil
}

func (w *verdictWriter) close() error {
	w.csv.Flush()
	if err := w.csv.Error(); err != nil {
		_ = w.file.Close()
		return fmt.Errorf("evaluate: %w", err)
	}
	if err := w.buf.Flush(); err != nil {
		_ = w.file.Close()
		return fmt.Errorf("evaluate: %w", err)
	}
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	return nil
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
