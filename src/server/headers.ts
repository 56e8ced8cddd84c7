/** Scripts, styles and data from this server only: nothing inline, nothing from afar, in no frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const defaults: readonly (readonly [name: string, value: string])[] = [
  ['content-security-policy', contentSecurityPolicy],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  // Not `no-referrer`: with it a browser sends the sign-in form with the origin `null`.
  ['referrer-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=()'],
  ['cache-control', 'no-store'],
];

/** Adds the security headers that a response does not set itself. */
export function secureHeaders(response: Response): void {
  for (const [name, value] of defaults) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
}
