// Starts a command on a console of its own, and ends it as Ctrl-C does. It exits 0 if the command then ends with exit
// code 0.
//
//	ctrlc OUTPUT MILLISECONDS COMMAND
//
// The output of the command goes to a file; Ctrl-C follows after some time.
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static BOOL WINAPI stay(DWORD event) {
	(void)event;
	return TRUE;
}

int main(int n, char **words) {
	if (n != 4)
		return 2;
	FreeConsole();
	if (!AllocConsole())
		return 3;
	SECURITY_ATTRIBUTES shared = {sizeof shared, NULL, TRUE};
	HANDLE output = CreateFileA(words[1], GENERIC_WRITE, FILE_SHARE_READ, &shared, CREATE_ALWAYS, 0, NULL);
	STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES, .hStdOutput = output, .hStdError = output};
	PROCESS_INFORMATION command;
	if (!CreateProcessA(NULL, words[3], NULL, NULL, TRUE, 0, NULL, NULL, &start, &command))
		return 4;
	Sleep(atoi(words[2]));
	SetConsoleCtrlHandler(stay, TRUE);
	DWORD code = 5;
	if (GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) && WaitForSingleObject(command.hProcess, 60000) == WAIT_OBJECT_0)
		GetExitCodeProcess(command.hProcess, &code);
	TerminateProcess(command.hProcess, 6);
	return code;
}
