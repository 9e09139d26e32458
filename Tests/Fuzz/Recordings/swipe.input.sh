adb shell input tap 540 1200
sleep 1 && input touchscreen swipe 540 1200 540 600 200; sleep 0.5
adb shell input motionevent DOWN 100 100
adb shell input motionevent UP 100 100
