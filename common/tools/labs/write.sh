#!/bin/sh
# write.sh NAME [SOURCE]: make NAME, for what is to be filled in, such as lab3: writes labs/NAME.cu
# (or .txt), unless it is there, and says what to do with it. SOURCE has the kernels of a lab.
here=common/tools/labs name=$1 source=$2 number=${1##*[a-z]} task=
file=labs/$name.cu
case $name in
first*)
    todo="Write the line that is missing"
    text() { sed 's|^\( *\).*// lab: \(.*\)|\1// your line: \2|' "steps/first-kernel/$name.cu"; }
    ;;
lab*)
    todo="Fill in its gaps" task="sed -n /^==.$number\$/,/^==/{/^==/!p} $here/tasks.txt"
    text() { $here/skeleton.sh "$number" "$source"; }
    ;;
bug*)
    todo="Find the fault and fix it"
    text() { $here/exercises/exercise.sh --bug "$number"; }
    ;;
exercise*)
    todo="What to do is below" task="$here/exercises/exercise.sh --task $number"
    text() { $here/exercises/exercise.sh "$number"; }
    ;;
swizzle)
    todo="Change its function place()"
    text() { cat $here/banks/swizzle.cu; }
    ;;
*) # predict, detective
    todo="Fill it in" file=labs/$name.txt
    text() { rm "$file.new" && build/labs/bank-lab "$name" write "$file.new" build/labs/banks.ptx; }
    ;;
esac
case $name in
lab*) check=check$number ;;
*) check=check-$name ;;
esac
if [ -e "$file" ]; then
    echo "$file is there already, and stays as it is. Move it away for a new one."
else
    mkdir -p labs && text >"$file.new" && mv "$file.new" "$file" || exit
    echo "$file is written. $todo; then: make $check"
fi
[ -z "$task" ] || { echo && $task; }
