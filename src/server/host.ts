/** Whether an address or name reaches this machine only. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** The name in a `Host` header, without its port, in lower case; an IPv6 address keeps its brackets. */
export function splitHost(header: string): string {
  return header.toLowerCase().replace(/:\d+$/, '');
}

/** A URL that a person on this machine can open for a server bound to `host`. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
