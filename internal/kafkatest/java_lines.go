package kafkatest

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
)

// RecordsInFile yields the records that the Java reader wrote. The last pair
// has an error if the file cannot be read or is not complete.
func RecordsInFile(file string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		lines := bufio.NewReaderSize(f, 1<<16)
		for seen := 0; ; seen++ {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s ends after %d records without its END line", file, seen)
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			line = strings.TrimSuffix(line, "\n")
			if count, ok := strings.CutPrefix(line, "END\t"); ok {
				if count != strconv.Itoa(seen) {
					yield(Record{}, fmt.Errorf("%s has %d records, its END line says %s", file, seen, count))
				}
				return
			}
			r, err := parseLine(line)
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", file, seen+1, err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// parseLine is the inverse of print in Reader.java.
func parseLine(line string) (Record, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 7 {
		return Record{}, fmt.Errorf("%d fields, want 7", len(fields))
	}
	partition, err1 := strconv.ParseInt(fields[1], 10, 32)
	offset, err2 := strconv.ParseInt(fields[2], 10, 64)
	timestamp, err3 := strconv.ParseInt(fields[3], 10, 64)
	key, err4 := parseBytes(fields[4])
	value, err5 := parseBytes(fields[5])
	r := Record{
		Topic: fields[0], Partition: int32(partition), Offset: offset, TimestampMillis: timestamp,
		Key: key, Value: value,
	}
	errs := []error{err1, err2, err3, err4, err5}
	if fields[6] != "" {
		for h := range strings.SplitSeq(fields[6], ",") {
			name, content, _ := strings.Cut(h, ":")
			key, err := parseBytes(name)
			value, err2 := parseBytes(content)
			errs = append(errs, err, err2)
			r.Headers = append(r.Headers, Header{Key: string(key), Value: value})
		}
	}
	return r, errors.Join(errs...)
}

func parseBytes(field string) ([]byte, error) {
	if field == "-" {
		return nil, nil //nolint:nilnil // null
	}
	return base64.StdEncoding.DecodeString(field)
}
