; Every relocation that code without variables gets from LLVM 15. Each function's text is all that is looked at:
;   llc-15 -O2 -relocation-model=pic -mtriple=aarch64-unknown-linux-gnu -filetype=obj -o aarch64.o sample.ll
;   llc-15 -O2 -relocation-model=pic -mtriple=x86_64-unknown-linux-gnu -filetype=obj -o x86_64.o sample.ll
@bytes = private constant [5 x i8] c"\01\02\03\04\05"
@halves = private constant [3 x i16] [i16 1, i16 2, i16 3]
@words = private constant [3 x float] [float 1.0, float 2.0, float 3.0]
@longs = private constant [3 x double] [double 1.0, double 2.0, double 3.0]
@vector = private constant <4 x i32> <i32 1, i32 2, i32 3, i32 4>
@addresses = private constant [2 x ptr] [ptr @words, ptr @longs]
@distance = private constant i32 trunc (i64 sub (i64 ptrtoint (ptr @words to i64), i64 ptrtoint (ptr @distance to i64)) to i32)

declare ptr @memcpy(ptr, ptr, i64)
declare ptr @memmove(ptr, ptr, i64)
declare ptr @memset(ptr, i32, i64)

define void @weft_cpu_entry(ptr %call, i32 %x, i32 %y, i32 %z, i32 %count) {
  %b = load volatile i8, ptr getelementptr ([5 x i8], ptr @bytes, i64 0, i64 3)
  store volatile i8 %b, ptr %call
  %h = load volatile i16, ptr getelementptr ([3 x i16], ptr @halves, i64 0, i64 1)
  store volatile i16 %h, ptr %call
  %w = load volatile float, ptr getelementptr ([3 x float], ptr @words, i64 0, i64 2)
  store volatile float %w, ptr %call
  %l = load volatile double, ptr getelementptr ([3 x double], ptr @longs, i64 0, i64 1)
  store volatile double %l, ptr %call
  %v = load volatile <4 x i32>, ptr @vector
  store volatile <4 x i32> %v, ptr %call
  %place = zext i32 %x to i64
  %entry = getelementptr [2 x ptr], ptr @addresses, i64 0, i64 %place
  %address = load volatile ptr, ptr %entry
  store volatile ptr %address, ptr %call
  %d = load volatile i32, ptr @distance
  store volatile i32 %d, ptr %call
  store volatile ptr @memmove, ptr %call
  %one = call ptr @memcpy(ptr %call, ptr %address, i64 %place)
  %two = tail call ptr @memset(ptr %call, i32 %y, i64 %place)
  ret void
}
