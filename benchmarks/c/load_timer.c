/* Like LoadTimer: creates a program suspended, in the REALTIME priority class, and times it with the performance
   counter until it has ended. Prints the microseconds of each launch, from just before its creation. So that only the
   launching differs from headstart.exe's, it also pins itself and the program to the last CPU, connects the streams to
   NUL, and pauses after each launch. Unlike headstart.exe it uses no job and no list of handles. */
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
    DWORD_PTR allowed, online, cpu = 1;
    STARTUPINFOA start = { .cb = sizeof start };
    if (count != 3)
        return 2;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &online))
        return 5;
    while (allowed >>= 1)
        cpu <<= 1;
    SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS);
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = start.hStdOutput = start.hStdError = nowhere();
    for (int launch = 0; launch < atoi(words[1]); launch++) {
        PROCESS_INFORMATION process;
        LARGE_INTEGER before, after;
        DWORD flags = CREATE_SUSPENDED | REALTIME_PRIORITY_CLASS, code;
        /* A request to Wine's server, which has been idle during the pause: the timed part does not begin with
           waking it. */
        if (!SetThreadAffinityMask(GetCurrentThread(), cpu))
            return 5;
        /* Wine fails so by chance; headstart.exe tries again, too. */
        for (int attempt = 1;; attempt++) {
            QueryPerformanceCounter(&before);
            if (CreateProcessA(NULL, words[2], NULL, NULL, TRUE, flags, NULL, NULL, &start, &process))
                break;
            if (GetLastError() != ERROR_INTERNAL_ERROR || attempt == 3)
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
