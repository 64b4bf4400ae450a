//go:build !linux

package main

import "errors"

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

func clockSynced() (bool, error) { return false, errors.ErrUnsupported }
