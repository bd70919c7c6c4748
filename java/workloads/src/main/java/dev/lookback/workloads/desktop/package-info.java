/**
 * A desktop application that another program uses as a person would, and that counts its own frames.
 *
 * <p>Two processes: {@link dev.lookback.workloads.desktop.Main} is the application, which is measured, and
 * {@link dev.lookback.workloads.desktop.Controller} drives it with the mouse and the keyboard of an X display
 * ("Memory Management on Mobile Devices", ISMM 2024, sections 4.1 and 4.2). {@code desktop.sh} starts a
 * display and the controller, which starts the application. The application starts neither: counters that follow a
 * process's children would count them too. It opens no file and no file descriptor by its number: what a number stands
 * for is up to the VM.
 *
 * <p>frames: the display's clock and what is counted. mail: the data. view: the window. control: the other process.
 */
package dev.lookback.workloads.desktop;
