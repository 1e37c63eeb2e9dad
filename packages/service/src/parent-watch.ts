const pauseMs = 500

/**
 * Calls `stop` when the process that started this one has ended, if that was a script of a package.json. npm and others pass on SIGTERM to the shell of the
 * script only, and most shells end without their command, which would run on without a parent and use its port.
 */
export function whenParentEnds(stop: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (runs(parent) && process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, pauseMs).unref()
}

// On Windows, a process whose parent has ended gets no other.
function runs(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
