//go:build mpi && linux

package mpi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebitengine/purego"
)

// In Open MPI a handle is the address of an object; the predefined ones are symbols of the library.
type (
	communicator uintptr
	datatype     uintptr
)

// Constants of Open MPI's header.
const (
	anySource      = -1
	undefined      = -32766
	keyTagUB       = 0
	threadFunneled = 1
	threadMultiple = 3
)

// library is the functions of Open MPI that are used, under their names in C. Every int of C is an int32.
type library struct {
	initThread     func(argc, argv uintptr, required int32, provided *int32) int32
	finalize       func() int32
	abort          func(c communicator, code int32) int32
	commRank       func(c communicator, rank *int32) int32
	commSize       func(c communicator, size *int32) int32
	commSplit      func(c communicator, color, key int32, out *communicator) int32
	commSetErr     func(c communicator, handler uintptr) int32
	commGetAttr    func(c communicator, key int32, value **int32, flag *int32) int32
	errorString    func(code int32, text *byte, length *int32) int32
	libraryVersion func(text *byte, length *int32) int32
	isend          func(buf *byte, n int32, t datatype, to, tag int32, c communicator, r *uintptr) int32
	irecv          func(buf *byte, n int32, t datatype, from, tag int32, c communicator, r *uintptr) int32
	testsome       func(n int32, r *uintptr, done, indices *int32, statuses uintptr) int32
	cancel         func(r *uintptr) int32
	requestFree    func(r *uintptr) int32

	world        communicator
	typeByte     datatype
	errorsReturn uintptr
	requestNull  uintptr
}

// install is what to do when the library is missing.
const install = "install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin libopenmpi-dev)"

// open loads the library.
func open() (*library, error) {
	// libmpi.so.40 is Open MPI 2.1 to 5. The library of MPICH and its kin, libmpi.so.12, has other handles and constants.
	const name = "libmpi.so.40"
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL) // its plug-ins look for its symbols in the global scope
	if err != nil {
		return nil, fmt.Errorf("Open MPI's library %s cannot be loaded: %v: %s", name, err, install)
	}
	l := &library{}
	var missing []error
	symbol := func(name string) uintptr {
		p, err := purego.Dlsym(handle, name)
		if err != nil {
			missing = append(missing, err)
		}
		return p
	}
	for name, f := range map[string]any{
		"MPI_Init_thread": &l.initThread, "MPI_Finalize": &l.finalize, "MPI_Abort": &l.abort, "MPI_Comm_rank": &l.commRank,
		"MPI_Comm_size": &l.commSize, "MPI_Comm_split": &l.commSplit, "MPI_Comm_set_errhandler": &l.commSetErr,
		"MPI_Comm_get_attr": &l.commGetAttr, "MPI_Error_string": &l.errorString, "MPI_Get_library_version": &l.libraryVersion,
		"MPI_Isend": &l.isend, "MPI_Irecv": &l.irecv, "MPI_Testsome": &l.testsome, "MPI_Cancel": &l.cancel, "MPI_Request_free": &l.requestFree,
	} {
		if p := symbol(name); p != 0 {
			purego.RegisterFunc(f, p)
		}
	}
	l.world, l.typeByte = communicator(symbol("ompi_mpi_comm_world")), datatype(symbol("ompi_mpi_byte"))
	l.errorsReturn, l.requestNull = symbol("ompi_mpi_errors_return"), symbol("ompi_request_null")
	if err := errors.Join(missing...); err != nil {
		return nil, fmt.Errorf("%s is not the library of Open MPI: %w: %s", name, err, install)
	}
	if v := l.version(); !strings.HasPrefix(v, "Open MPI") {
		return nil, fmt.Errorf("%s is %q, want Open MPI: %s", name, v, install)
	}
	return l, nil
}

// version is how the library calls itself.
func (l *library) version() string {
	var text [8192]byte
	var n int32
	if l.libraryVersion(&text[0], &n) != 0 {
		return ""
	}
	first, _, _ := strings.Cut(string(text[:n]), ",")
	return first
}

// check makes an error of a code.
func (l *library) check(function string, code int32) error {
	if code == 0 {
		return nil
	}
	var text [256]byte
	var n int32
	l.errorString(code, &text[0], &n)
	return fmt.Errorf("%s: %s", function, text[:n])
}
