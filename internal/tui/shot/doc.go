// Package shot makes pictures of frames: what a program wrote to a terminal,
// as PNG or SVG, without a terminal and without a screen.
//
// The data: a terminal emulator turns the frame into a grid of cells, and a
// [Picture] is those cells, with the colours of a theme where they name none.
//
// It is for documentation and for looking at what tests draw. The program
// itself never imports it.
package shot
