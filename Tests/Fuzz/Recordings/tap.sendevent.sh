#!/system/bin/sh
sendevent /dev/input/event2 3 57 12
adb shell 'sendevent /dev/input/event2 3 53 540; sendevent /dev/input/event2 3 54 1200'
sendevent /dev/input/event2: 0 0 0
sleep 0.1
sendevent /dev/input/event2 3 57 4294967295
sendevent /dev/input/event2 0 0 0
