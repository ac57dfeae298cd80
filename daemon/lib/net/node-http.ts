/**
 * Import Node's `http` from here. An `import` of it evaluates each of its getters, and the getter of
 * `WebSocket` loads the bundled undici: 20 ms and 9 MB per program for an unused class. Importing types
 * directly is fine.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
