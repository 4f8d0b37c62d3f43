/* Does what LoadTimer does: creates a program suspended, in the REALTIME priority class, and times it with the
   performance counter until it has ended. Prints the microseconds of each launch, from just before its creation.
   What is no matter of launching is as headstart.exe has it: one CPU, the last one, streams that lead nowhere, and a
   pause after each launch. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#define PAUSE_MS 30

static double microseconds(LARGE_INTEGER from, LARGE_INTEGER to)
{
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    return (to.QuadPart - from.QuadPart) * 1e6 / frequency.QuadPart;
}

static HANDLE nowhere(void)
{
    SECURITY_ATTRIBUTES inherited = { sizeof inherited, NULL, TRUE };
    DWORD access = GENERIC_READ | GENERIC_WRITE, share = FILE_SHARE_READ | FILE_SHARE_WRITE;
    return CreateFileA("NUL", access, share, &inherited, OPEN_EXISTING, 0, NULL);
}

int main(int count, char **words)
{
    SYSTEM_INFO system;
    DWORD_PTR cpu;
    STARTUPINFOA start = { sizeof start };
    if (count != 3)
        return 2;
    GetSystemInfo(&system);
    cpu = (DWORD_PTR)1 << (system.dwNumberOfProcessors - 1);
    SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS);
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = start.hStdOutput = start.hStdError = nowhere();
    for (int launch = 0; launch < atoi(words[1]); launch++) {
        PROCESS_INFORMATION process;
        LARGE_INTEGER before, after;
        DWORD flags = CREATE_SUSPENDED | REALTIME_PRIORITY_CLASS, code;
        /* Also wakes Wine's server, which has slept for as long as the pause. */
        SetThreadAffinityMask(GetCurrentThread(), cpu);
        QueryPerformanceCounter(&before);
        if (!CreateProcessA(NULL, words[2], NULL, NULL, TRUE, flags, NULL, NULL, &start, &process)) {
            /* Wine's, by chance: headstart.exe tries again as well. */
            if (GetLastError() == ERROR_INTERNAL_ERROR)
                continue;
            return 3;
        }
        SetProcessAffinityMask(process.hProcess, cpu);
        ResumeThread(process.hThread);
        WaitForSingleObject(process.hProcess, INFINITE);
        QueryPerformanceCounter(&after);
        if (!GetExitCodeProcess(process.hProcess, &code) || code != 0)
            return 4;
        CloseHandle(process.hThread);
        CloseHandle(process.hProcess);
        printf("%.1f\n", microseconds(before, after));
        Sleep(PAUSE_MS);
    }
    return 0;
}
