/**
 * Node's `http` as it is meant to be read in here. An `import` of it asks each of its getters, and the one of `WebSocket` reads in the
 * undici that Node carries: 20 ms and some 9 MB of every program of ours, for a class that none of them uses. Types may be imported.
 */
export const { createServer, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
