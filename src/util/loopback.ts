const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether a host name or address is this machine itself. */
export function isLoopback(host: string): boolean {
  return loopback.test(host);
}
