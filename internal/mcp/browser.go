package mcp

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"banyan/internal/tool"
)

// browserEnv are the variables that programs that open a browser need of ours,
// besides those that all programs get. They get no keys.
var browserEnv = []string{"DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY", "BROWSER", "DESKTOP_SESSION", "XDG_CURRENT_DESKTOP", "WSL_DISTRO_NAME", "WSL_INTEROP"}

// OpenBrowser opens a web page in the user's browser, as far as there is a way.
// It returns when that is on its way.
func OpenBrowser(address string) error {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return errors.New("the address is no web page")
	}
	openers := []string{"xdg-open", "x-www-browser", "wslview"}
	if runtime.GOOS == "darwin" {
		openers = []string{"open"}
	}
	for _, name := range openers {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		cmd := exec.Command(path, address) // its output is nobody's
		cmd.Env = tool.Environ(browserEnv, nil)
		if err := cmd.Start(); err != nil {
			return err
		}
		go func() { _ = cmd.Wait() }() // the browser's end, whenever that is
		return nil
	}
	return errors.New("there is no program here that opens a browser")
}
