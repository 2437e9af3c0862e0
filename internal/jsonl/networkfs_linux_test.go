package jsonl

import "testing"

func TestNetworkFS(t *testing.T) {
	for magic, want := range map[int64]string{
		0x6969:      "NFS",
		0x517b:      "SMB",
		0xff534d42:  "SMB",
		0xfe534d42:  "SMB",
		-0xacb2be:   "SMB", // 0xff534d42 in the 32 signed bits of some processors
		0x01021997:  "9P",
		0xef53:      "", // ext4
		0x58465342:  "", // XFS
		0x9123683e:  "", // Btrfs
		0x01021994:  "", // tmpfs
		0x794c7630:  "", // overlayfs
		-0x6edc97c2: "",
	} {
		if got := networkFS(magic); got != want {
			t.Errorf("%#x: %q, want %q", magic, got, want)
		}
	}
}
