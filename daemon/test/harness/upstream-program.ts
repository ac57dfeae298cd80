/**
 * A small server with an OpenAI-style chat as a separate process, so that it can be suspended and killed. Prints
 * its port, then the user of each request as it is received. Arguments: models, milliseconds per answer or token, address.
 */
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const [models = '', ms = '0', host = '127.0.0.1'] = process.argv.slice(2);
const data = models.split(',').map((id) => ({ id, object: 'model', created: 1, owned_by: 'them' }));

interface Chat {
  readonly user: string;
  readonly stream?: boolean;
  readonly max_tokens: number;
}

const server = createServer(async (req, res) => {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  if (req.method === 'GET') {
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
    return;
  }
  const { user, stream, max_tokens } = JSON.parse(Buffer.concat(parts).toString()) as Chat;
  process.stdout.write(`${user}\n`);
  const content = `served ${user}`;
  if (!stream) {
    await delay(Number(ms));
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }));
    return;
  }
  const event = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  await delay(Number(ms));
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let token = 0; token < max_tokens && !res.destroyed; token++) {
    res.write(event({ content: token === 0 ? content : ' and' }, null));
    await delay(Number(ms));
  }
  res.end(`${event({}, 'stop')}data: [DONE]\n\n`);
});
server.listen(0, host, () => {
  process.stdout.write(`${(server.address() as { port: number }).port}\n`);
});
