// Every finding of reading, verifying and assembling, at its line.

func.func @operands(%a: i32) {
  // expected-error @+1 {{'tfrt.add.i32' op expected 2 operands, but found 1}}
  %0 = "tfrt.add.i32"(%a) : (i32) -> i32
  tfrt.return
}

// -----

func.func @zero_operands(%a: i32) {
  // expected-error @+1 {{'tfrt.new.chain' op requires zero operands}}
  %0 = "tfrt.new.chain"(%a) : (i32) -> !tfrt.chain
  tfrt.return
}

// -----

func.func @one_operand(%a: i32) {
  // expected-error @+1 {{'tfrt_test.count3.i32' op requires a single operand}}
  %0:3 = "tfrt_test.count3.i32"(%a, %a) : (i32, i32) -> (i32, i32, i32)
  tfrt.return
}

// -----

func.func @variadic() {
  // expected-error @+1 {{'tfrt.merge.chains' op expected 1 or more operands, but found 0}}
  %0 = "tfrt.merge.chains"() : () -> !tfrt.chain
  tfrt.return
}

// -----

func.func @results(%a: i32) {
  // expected-error @+1 {{'tfrt.div.i32' op expected 2 results}}
  %0 = "tfrt.div.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return
}

// -----

func.func @one_result(%a: i32) {
  // expected-error @+1 {{'tfrt.add.i32' op requires one result}}
  "tfrt.add.i32"(%a, %a) : (i32, i32) -> ()
  tfrt.return
}

// -----

func.func @zero_results(%a: !tfrt_tensor.tensor) {
  // expected-error @+1 {{'tfrt_dht_sync.print_tensor' op requires zero results}}
  %0 = "tfrt_dht_sync.print_tensor"(%a) : (!tfrt_tensor.tensor) -> i32
  tfrt.return
}

// -----

func.func @operand_type(%a: i32, %b: i64) {
  // expected-error @+1 {{'tfrt.add.i32' op operand #1 must be 32-bit signless integer, but got 'i64'}}
  %0 = "tfrt.add.i32"(%a, %b) : (i32, i64) -> i32
  tfrt.return
}

// -----

func.func @operand_type_dialect(%a: i32) {
  // expected-error @+1 {{'tfrt.print.i32' op operand #1 must be !tfrt.chain type, but got 'i32'}}
  %0 = "tfrt.print.i32"(%a, %a) : (i32, i32) -> !tfrt.chain
  tfrt.return
}

// -----

func.func @result_type() {
  // expected-error @+1 {{'tfrt.constant.f32' op result #0 must be 32-bit float, but got 'f64'}}
  %0 = "tfrt.constant.f32"() {value = 1.0 : f32} : () -> f64
  tfrt.return
}

// -----

func.func @complex_type() {
  // expected-error @+1 {{'tfrt.constant.complex64' op result #0 must be complex type with 32-bit float elements, but got 'f32'}}
  %0 = "tfrt.constant.complex64"() {imaginary = 1.0 : f32, real = 1.0 : f32} : () -> f32
  tfrt.return
}

// -----

func.func @attribute_missing() {
  // expected-error @+1 {{'tfrt.constant.i32' op requires attribute 'value'}}
  %0 = "tfrt.constant.i32"() : () -> i32
  tfrt.return
}

// -----

func.func @attribute_wrong() {
  // expected-error @+1 {{'tfrt.constant.i32' op attribute 'value' failed to satisfy constraint: 32-bit signless integer attribute}}
  %0 = "tfrt.constant.i32"() {value = 1 : i64} : () -> i32
  tfrt.return
}

// -----

func.func @array_attribute() {
  // expected-error @+1 {{'ts.build_shape' op attribute 'value' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = ts.build_shape [1 : i32]
  tfrt.return
}

// -----

func.func @symbol_attribute() {
  // expected-error @+1 {{'tfrt.call' op attribute 'callee' failed to satisfy constraint: flat symbol reference attribute}}
  "tfrt.call"() {callee = "f"} : () -> ()
  tfrt.return
}

// -----

func.func @undeclared() {
  // expected-error @+1 {{use of undeclared SSA value name}}
  tfrt.return %nowhere : i32
}

// -----

func.func @isolated(%n: i32, %a: i32) {
  tfrt.repeat.i32 %n {
    // expected-error @+1 {{use of undeclared SSA value name}}
    %b = tfrt.add.i32 %a, %a
    tfrt.return
  }
  tfrt.return
}

// -----

func.func @another_type(%a: i32) {
  // expected-error @+1 {{use of value '%a' expects different type than prior uses: 'i64' vs 'i32'}}
  %b = tfrt.add.i64 %a, %a
  tfrt.return
}

// -----

func.func @again(%a: i32) {
  // expected-error @+1 {{redefinition of SSA value '%a'}}
  %a = tfrt.constant.i32 1
  tfrt.return
}

// -----

func.func @f() {
  tfrt.return
}
// expected-error @+1 {{redefinition of symbol named 'f'}}
func.func @f() {
  tfrt.return
}

// -----

func.func @return_count(%a: i32) -> (i32, i32) {
  // expected-error @+1 {{'tfrt.return' op has 1 operands, but enclosing function returns 2}}
  tfrt.return %a : i32
}

// -----

func.func @return_type(%a: i32, %b: i64) -> (i32, i32) {
  // expected-error @+1 {{type of return operand 1 ('i64') doesn't match function result type ('i32')}}
  tfrt.return %a, %b : i32, i64
}

// -----

func.func @no_return_in_body(%n: i32) {
  // expected-error @+1 {{'tfrt.repeat.i32' op expected tfrt.return in body}}
  tfrt.repeat.i32 %n {
    %0 = tfrt.new.chain
  }
  tfrt.return
}

// -----

func.func @body_types(%n: i32, %a: i32) {
  %0 = tfrt.repeat.i32 %n, %a : i32 {
    %1 = tfrt.new.chain
    // expected-error @+1 {{'tfrt.return' op operand types don't match 'tfrt.repeat.i32' result}}
    tfrt.return %1 : !tfrt.chain
  }
  tfrt.return
}

// -----

func.func @block_arguments(%c: i1, %a: i32) {
  // expected-error @+1 {{incorrect number of arguments to 'then' block}}
  "tfrt.if"(%c, %a) ({
    tfrt.return
  }, {
    tfrt.return
  }) : (i1, i32) -> ()
  tfrt.return
}

// -----

func.func @block_argument_types(%c: i1, %a: i32) {
  // expected-error @+1 {{operand/argument type mismatch}}
  "tfrt.if"(%c, %a) ({
  ^bb0(%x: i64):
    tfrt.return
  }, {
  ^bb0(%x: i32):
    tfrt.return
  }) : (i1, i32) -> ()
  tfrt.return
}

// -----

func.func @else(%c: i1, %a: i32) {
  // expected-error @+1 {{expected 'else' in 'tfrt.if' with result values}}
  %0 = tfrt.if %c, %a : (i32) -> (i32) {
    tfrt.return %a : i32
  }
  tfrt.return
}

// -----

func.func @g(%a: i32) -> i32 {
  tfrt.return %a : i32
}
func.func @call_missing() {
  // expected-error @+1 {{'tfrt.call' op 'h' does not reference a valid function}}
  tfrt.call @h() : () -> ()
  tfrt.return
}
func.func @call_operands() {
  // expected-error @+1 {{incorrect number of operands for callee}}
  %0 = tfrt.call @g() : () -> i32
  tfrt.return
}
func.func @call_operand_type(%a: i64) {
  // expected-error @+1 {{operand type mismatch}}
  %0 = tfrt.call @g(%a) : (i64) -> i32
  tfrt.return
}
func.func @call_results(%a: i32) {
  // expected-error @+1 {{incorrect number of results for callee}}
  tfrt.call @g(%a) : (i32) -> ()
  tfrt.return
}
func.func @call_result_type(%a: i32) {
  // expected-error @+1 {{result type mismatch}}
  %0 = tfrt.call @g(%a) : (i32) -> i64
  tfrt.return
}
func.func @cond_operands(%c: i1) {
  // expected-error @+1 {{incorrect number of operands for true function}}
  %0 = tfrt.cond %c @g @g () : () -> (i32)
  tfrt.return
}
func.func @cond_false(%c: i1, %a: i32) {
  // expected-error @+1 {{'tfrt.cond' op 'h' does not reference a valid function}}
  %0 = tfrt.cond %c @g @h (%a) : (i32) -> (i32)
  tfrt.return
}
func.func @case(%i: i32, %a: i32) {
  // expected-error @+1 {{'tfrt.case' op 'h' does not reference a valid function}}
  %0 = tfrt.case %i [@g, @h] (%a) : (i32) -> (i32)
  tfrt.return
}
func.func @while(%c: i1, %a: i32) {
  // expected-error @+1 {{incorrect number of results for callee}}
  %0 = tfrt.while %c @g (%a) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return
}
func.func @parallel(%i: i32) {
  // expected-error @+1 {{incorrect number of callee operands}}
  %0 = tfrt.parallel_call.i32 %i to %i fixed %i @g()
  tfrt.return
}

// -----

func.func @one(%a: i64, %b: i32) {
  tfrt.return
}
func.func @two(%a: i32, %b: i32) -> i32 {
  tfrt.return %a : i32
}
func.func @three(%a: i32, %b: i32) -> (i32, i32) {
  tfrt.return %a, %b : i32, i32
}
func.func @four(%a: i32, %b: i32, %c: i32) {
  tfrt.return
}
func.func @indices(%i: i32) {
  // expected-error @+1 {{callee must take stard and end indices first}}
  %0 = tfrt.parallel_call.i32 %i to %i fixed %i @one()
  tfrt.return
}
func.func @chain(%i: i32) {
  // expected-error @+1 {{async callee must return a chain}}
  %0 = tfrt.parallel_call.i32 %i to %i fixed %i @two()
  tfrt.return
}
func.func @result(%i: i32) {
  // expected-error @+1 {{invalid callee result type}}
  %0 = tfrt.parallel_call.i32 %i to %i fixed %i @three()
  tfrt.return
}
func.func @operand(%i: i32, %x: i64) {
  // expected-error @+1 {{operand type mismatch}}
  %0 = tfrt.parallel_call.i32 %i to %i fixed %i @four(%x) : i64
  tfrt.return
}

// -----

func.func @repeat() {
  // expected-error @+1 {{expected trip count}}
  tfrt.repeat.i32 {
    tfrt.return
  }
  tfrt.return
}

// -----

func.func @repeat_results(%n: i32) {
  // expected-error @+1 {{'tfrt.repeat.i32' op incorrect number of operands}}
  %0 = "tfrt.repeat.i32"(%n) ({
    tfrt.return
  }) : (i32) -> i32
  tfrt.return
}

// -----

func.func @benchmark_return() {
  // expected-error @+1 {{'tfrt_test.benchmark' op missing return statement}}
  tfrt_test.benchmark "b"() duration_secs = 1, max_count = 1 {
    %0 = tfrt.new.chain
  }
  tfrt.return
}

// -----

func.func @benchmark_results() {
  // expected-error @+1 {{incorrect number of return values. One return value is expected}}
  tfrt_test.benchmark "b"() duration_secs = 1, max_count = 1 {
    tfrt.return
  }
  tfrt.return
}

// -----

func.func @benchmark_count() {
  // expected-error @+1 {{'tfrt_test.benchmark' op requires attribute 'max_count'}}
  tfrt_test.benchmark "b"() duration_secs = 1 {
    tfrt.return
  }
  tfrt.return
}

// -----

func.func @cost_missing(%a: i32) {
  // expected-error @+1 {{'tfrt_test.test_cost' op cost attribute not found}}
  %0 = tfrt_test.test_cost %a {id = 0} : i32
  tfrt.return
}

// -----

func.func @unknown() {
  // expected-error @+1 {{custom op 'x.y' is unknown}}
  x.y
  tfrt.return
}

// -----

func.func @operand_list(%a: i32, %b: i32) -> i32 {
  // expected-error @+1 {{2 operands present, but expected 1}}
  %0 = tfrt.call @operand_list(%a, %b) : (i32) -> (i32)
  tfrt.return %0 : i32
}

// -----

func.func @binding() {
  // expected-error @+1 {{operation defines 1 results but was provided 2 to bind}}
  %a, %b = tfrt.constant.i32 1
  tfrt.return
}

// -----

func.func @pack() {
  %a:2 = "two"() : () -> (i32, i32)
  // expected-error @+1 {{without a number}}
  tfrt.return %a : i32
}

// -----

func.func @pack_number() {
  %a:2 = "two"() : () -> (i32, i32)
  // expected-error @+1 {{reference to invalid result number}}
  tfrt.return %a#2 : i32
}

// -----

// expected-error @+1 {{integer constant out of range for attribute}}
"x"() {value = 256 : i8} : () -> ()

// -----

// expected-error @+1 {{integer constant out of range for attribute}}
"x"() {value = -1 : ui8} : () -> ()

// -----

// expected-error @+1 {{integer constant out of range for attribute}}
"x"() {value = 2 : i1} : () -> ()

// -----

// expected-error @+1 {{unexpected decimal integer literal for a floating point attribute}}
"x"() {value = 2 : f32} : () -> ()

// -----

// expected-error @+1 {{duplicate key 'a' in dictionary attribute}}
"x"() {a, a} : () -> ()

// -----

// expected-error @+1 {{undefined symbol alias id 'nothing'}}
"x"() {a = #nothing} : () -> ()

// -----

// expected-error @+1 {{defined by itself}}
#a = [#a]
"x"() {a = #a} : () -> ()

// -----

// expected-error @+1 {{does not have the extents of its type}}
"x"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> ()

// -----

// expected-error @+1 {{is too large}}
"x"() {a = dense<1> : tensor<99999999x99999999xi32>} : () -> ()

// -----

// expected-error @+1 {{expected '"' in string literal}}
"x

// -----

// expected-error @+1 {{multi-block regions cannot be emitted to BEF files}}
func.func @blocks() {
^a:
  "br"()[^b] : () -> ()
^b:
  tfrt.return
}

// -----

func.func @blocks_within() {
  // expected-error @+1 {{multi-block regions cannot be emitted to BEF files}}
  "x"() ({
    "br"()[^b] : () -> ()
  ^b:
    tfrt.return
  }) : () -> ()
  tfrt.return
}

// -----

// expected-error @+1 {{external functions are not allowed}}
func.func @external(i32)

// -----

func.func @no_return() {
  // expected-error @+1 {{all functions need to have a tfrt.return}}
  %0 = tfrt.new.chain
}

// -----

func.func @early() {
  // expected-error @+1 {{return op must be at the end of its block}}
  tfrt.return
  tfrt.return
}

// -----

func.func @sync(%a: i32) -> (i32, i32) attributes {tfrt.sync} {
  %0 = "tfrt.add_s.i32"(%a, %a) : (i32, i32) -> i32
  // expected-error @+1 {{return value 1 is duplicated in a sync function}}
  tfrt.return %0, %0 : i32, i32
}

// -----

func.func @not_defined() {
  // expected-error @+1 {{function @nowhere not defined}}
  "x"() {f = @nowhere} : () -> ()
  tfrt.return
}

// -----

func.func @not_encodable() {
  // expected-error @+1 {{BEF files cannot encode the 'd' attribute}}
  "x"() {d = {a = 1}} : () -> ()
  tfrt.return
}

// -----

func.func @captured(%a: i32) {
  "x"() ({
    // expected-error @+1 {{BEF executor only supports references to kernels within the current region}}
    tfrt.return %a : i32
  }) : () -> ()
  tfrt.return
}
