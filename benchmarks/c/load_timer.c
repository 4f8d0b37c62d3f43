/* Does what LoadTimer does: creates a program suspended, in the REALTIME priority class, and times it with the
   performance counter until it has ended. Prints the microseconds of each launch, from just before its creation. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static double microseconds(LARGE_INTEGER from, LARGE_INTEGER to)
{
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    return (to.QuadPart - from.QuadPart) * 1e6 / frequency.QuadPart;
}

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS);
    for (int launch = 0; launch < atoi(words[1]); launch++) {
        STARTUPINFOA start = { sizeof start };
        PROCESS_INFORMATION process;
        LARGE_INTEGER before, after;
        DWORD flags = CREATE_SUSPENDED | REALTIME_PRIORITY_CLASS, code;
        QueryPerformanceCounter(&before);
        if (!CreateProcessA(NULL, words[2], NULL, NULL, FALSE, flags, NULL, NULL, &start, &process))
            return 3;
        ResumeThread(process.hThread);
        WaitForSingleObject(process.hProcess, INFINITE);
        QueryPerformanceCounter(&after);
        if (!GetExitCodeProcess(process.hProcess, &code) || code != 0)
            return 4;
        CloseHandle(process.hThread);
        CloseHandle(process.hProcess);
        printf("%.1f\n", microseconds(before, after));
    }
    return 0;
}
