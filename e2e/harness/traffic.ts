import type { Page, Response } from 'playwright/test';

/** Everything that a page received. */
export interface Traffic {
  /** Headers and bodies of all responses so far, and the received part of event streams. */
  received(): Promise<string>;
}

async function answerText(response: Response): Promise<string> {
  const head = `${response.status()} ${response.url()} ${JSON.stringify(await response.allHeaders())}`;
  const endless = response.headers()['content-type']?.startsWith('text/event-stream');
  return endless ? head : `${head}\n${(await response.body()).toString('utf8')}`;
}

/** Event streams never end, so their bytes are read as they arrive. */
async function followStreams(page: Page): Promise<() => string> {
  const pieces: Buffer[] = [];
  const add = (data: string | undefined): void => {
    if (data !== undefined) pieces.push(Buffer.from(data, 'base64'));
  };
  const client = await page.context().newCDPSession(page);
  client.on('Network.dataReceived', ({ data }) => add(data));
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.mimeType !== 'text/event-stream') return;
    client.send('Network.streamResourceContent', { requestId }).then(
      ({ bufferedData }) => add(bufferedData),
      () => {}, // The page has left the stream already.
    );
  });
  await client.send('Network.enable');
  return () => Buffer.concat(pieces).toString('utf8');
}

/** Records what the page receives from now on. */
export async function recordTraffic(page: Page): Promise<Traffic> {
  const answers: Promise<string>[] = [];
  const add = (answer: Promise<string>): void => {
    answers.push(answer);
    answer.catch(() => {}); // failures surface in `received`
  };
  page.on('requestfinished', (request) =>
    add(request.response().then((response) => (response === null ? '' : answerText(response)))),
  );
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith('text/event-stream')) add(answerText(response));
  });
  const streamed = await followStreams(page);
  return { received: async () => [...(await Promise.all(answers)), streamed()].join('\n') };
}

/** The content of the page: its elements, field values and every storage that a script can read. */
export function pageContent(page: Page): Promise<string> {
  return page.evaluate<string>(`[
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll('input, textarea')].map((field) => field.value),
    JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }),
    document.cookie, location.href, JSON.stringify(history.state), document.title, window.name,
  ].join('\\n')`);
}
