// Plain JavaScript: an MCP server over standard input and output with one tool, `read_pdf`, whose result is the file itself.
// Codex has no tool that reads a PDF.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const TOOL = {
  name: 'read_pdf',
  description: 'Reads a PDF',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'files', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { path } }) => {
    const blob = readFileSync(path).toString('base64');
    return {
      content: [{ type: 'resource', resource: { uri: `file://${path}`, mimeType: 'application/pdf', blob } }],
    };
  },
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const handler = METHODS[method];
  const answer = handler
    ? { result: handler(params) }
    : { error: { code: -32601, message: 'unknown method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
