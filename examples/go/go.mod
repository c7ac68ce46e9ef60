module gpump.example/share

go 1.19
