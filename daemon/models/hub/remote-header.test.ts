import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Outbound } from '../../lib/net/outbound.ts';
import { pullObjection } from '../pulls/pull-objection.ts';
import { modelHeader, tensorHeads } from '../testing/gguf/model-header.ts';
import { headerKeys, type PublishedModel } from '../testing/gguf/model-keys.ts';
import { PUBLISHED_MODELS } from '../testing/gguf/published-models.ts';
import { encodeGgufHeader, str, strings } from '../testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../testing/hub.ts';
import { pullBench } from '../testing/pull-bench.ts';
import { createHub, type HubRepo } from './hub.ts';
import { hubChoices } from './hub-choices.ts';
import { type RemoteHeaders, remoteHeaders } from './remote-header.ts';

const REPO = 'maker/Large-GGUF';
const [hybrid, mixture] = PUBLISHED_MODELS as readonly [PublishedModel, PublishedModel];
const { signal } = new AbortController();
let hub: FakeHub;
let outbound: Outbound;
let headers: RemoteHeaders;

const catalog = { refusal: (repo: string) => (repo.startsWith('bad/') ? 'It needs a fork.' : null) };
/** Puts a header on the hub under these names, with the size of the whole file. */
function put(names: readonly string[], header: { bytes: Buffer; fileBytes: number }, repo = REPO): void {
  hub.repos[repo] = {
    files: Object.fromEntries(names.map((name) => [name, header.bytes])),
    sizes: Object.fromEntries(names.map((name) => [name, header.fileBytes])),
  };
}
const client = () =>
  createHub({
    outbound,
    settings: {
      value: ((name: string) => ({ hubUrl: hub.url, hubStorageHosts: [] })[name] ?? '') as never,
      views: () => [],
    },
  });
const found = (repo = REPO): Promise<HubRepo> => client().repo(repo, 'HEAD', signal);
const read = async () => {
  const repo = await found();
  return headers.read(repo, repo.files, signal);
};
const leftOvers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('svc-header-'));

beforeEach(async () => {
  hub = await startHub();
  outbound = new Outbound({ connectMs: () => 2000 });
  headers = remoteHeaders({
    ...{ outbound, hub: client() },
    // A large vocabulary takes seconds of CPU time.
    readerTime: { start: 50_000, file: 50_000 },
  });
});
afterEach(async () => {
  await outbound.close();
  await hub.close();
});

describe('the header of a file on the hub', () => {
  test('is read without the weights, once', async () => {
    put(['m-Q4_0.gguf'], modelHeader(hybrid));
    const metadata = await read();
    expect(metadata).toMatchObject({
      architecture: 'qwen35',
      sizeBytes: modelHeader(hybrid).fileBytes,
      contextMemory: { fullBytesPerToken: 65_536, stateBytesPerSequence: 156_893_184 },
    });
    const requests = hub.requests.length;
    await read();
    expect(hub.requests.slice(requests).filter(({ url }) => url.includes('/resolve/'))).toEqual([]);
    expect(hub.sent()).toBeLessThan(200_000);
    expect(leftOvers()).toEqual([]);
  });

  test('with a large vocabulary is read in several steps', async () => {
    const tokens = strings(Array.from({ length: 260_000 }, (_, index) => `token ${index}`));
    put(['m.gguf'], modelHeader(hybrid, { 'tokenizer.ggml.tokens': tokens }));
    expect(await read()).toMatchObject({ contextMemory: { vocabulary: 260_000 } });
    const ranges = hub.requests.map(({ range }) => range).filter((range) => range !== undefined);
    expect(new Set(ranges)).toEqual(new Set([`bytes=${2 * 1024 ** 2}-`]));
  });

  test.each([
    ['no GGUF', () => ({ bytes: Buffer.from('<html>'.repeat(2000)), fileBytes: 1e9 })],
    ['a damaged one', () => ({ bytes: modelHeader(hybrid).bytes.subarray(0, 500), fileBytes: 1e9 })],
  ])('is null for %s', async (_, header) => {
    put(['m.gguf'], header());
    expect(await read()).toBeNull();
    expect(leftOvers()).toEqual([]);
  });

  test('is null when the hub fails, and rejects when the caller disconnects', async () => {
    put(['m.gguf'], modelHeader(hybrid));
    const repo = await found();
    hub.fault = { status: 503 };
    expect(await headers.read(repo, repo.files, signal)).toBeNull();
    hub.fault = {};
    await expect(headers.read(repo, repo.files, AbortSignal.abort())).rejects.toThrow(/abort/);
    expect(await headers.read(repo, repo.files, signal)).not.toBeNull();
  });
});

describe('the refusal of a pull', () => {
  const objection = async (repo = REPO) => {
    const one = await found(repo);
    const choice = { label: 'm', main: one.files[0]?.path ?? null, files: one.files };
    return pullObjection({ catalog, headers })(one, choice, signal);
  };

  test('names an unknown architecture, an unknown tensor type and a listed repository', async () => {
    put(['m.gguf'], modelHeader(hybrid));
    expect(await objection()).toBeNull();
    const renamed = {
      ...headerKeys(hybrid),
      'general.architecture': str('glm5_next'),
      'glm5_next.block_count': { type: 'u32', value: 1 } as const,
    };
    put(['n.gguf'], encodeGgufHeader(renamed, tensorHeads(hybrid)));
    expect(await objection()).toContain('architecture glm5_next');
    const foreign = tensorHeads(hybrid).map((tensor, index) =>
      index === 9 ? { ...tensor, type: 142 } : tensor,
    );
    put(['o.gguf'], encodeGgufHeader(headerKeys(hybrid), foreign));
    expect(await objection()).toContain('tensor type 142');
    put(['m.gguf'], modelHeader(hybrid), 'bad/one');
    expect(await objection('bad/one')).toBe('It needs a fork.');
  });

  test('does not read the header of a small file, which is checked after the download', async () => {
    put(['m.gguf'], { ...modelHeader(hybrid), fileBytes: 1e6 });
    const before = hub.requests.length;
    expect(await objection()).toBeNull();
    expect(hub.requests.slice(before).filter(({ url }) => url.includes('/resolve/'))).toEqual([]);
  });

  test('comes before the first byte, and can be overridden', async () => {
    const renamed = {
      ...headerKeys(hybrid),
      'general.architecture': str('glm5_next'),
      'glm5_next.block_count': { type: 'u32', value: 1 } as const,
    };
    put(['m-Q4_0.gguf'], { ...encodeGgufHeader(renamed, tensorHeads(hybrid)), fileBytes: 2e10 });
    const resolved: unknown[] = [];
    const bench = await pullBench(hub.url, {
      free: async () => 1e12,
      objection: pullObjection({ catalog, headers }),
      onResolved: (model, facts) => resolved.push([model, facts.sizeBytes]),
    });
    try {
      await expect(bench.pull(REPO)).rejects.toMatchObject({ code: 'pull.unsupported' });
      expect([bench.pulls.list(), resolved]).toEqual([[], []]);
      const job = await bench.pull(REPO, { allow_unsupported: true });
      expect(resolved).toEqual([[REPO, 2e10]]);
      await bench.pulls.cancel(job.id);
    } finally {
      await bench.close();
    }
  });
});

test('lists the quantisations of a repository by size, with the fit of each and one header', async () => {
  const header = modelHeader(mixture);
  hub.repos[REPO] = {
    files: {
      'm-Q4_K_M.gguf': header.bytes,
      'm-UD-IQ2_XXS.gguf': Buffer.alloc(5000),
      'Q8_0/m-Q8_0-00001-of-00002.gguf': Buffer.alloc(5000),
      'Q8_0/m-Q8_0-00002-of-00002.gguf': Buffer.alloc(5000),
      'mmproj-F16.gguf': Buffer.alloc(5000),
    },
    sizes: { 'm-Q4_K_M.gguf': header.fileBytes, 'm-UD-IQ2_XXS.gguf': header.fileBytes / 2 },
  };
  const fits: [number, number | undefined, number | undefined][] = [];
  const view = await hubChoices(
    await found(),
    {
      catalog,
      headers,
      fitOf: ({ sizeBytes, experts, contextMemory }) => {
        fits.push([sizeBytes, experts?.bytes, contextMemory?.fullBytesPerToken]);
        return {
          badge: 'fits',
          context: 8192,
          evicts: [],
          needed: 1,
          free: 2,
          pool: 'host',
          cpu_experts: null,
        };
      },
    },
    signal,
  );
  expect(view).toMatchObject({ architecture: 'qwen35moe', objection: null, projector: 'mmproj-F16.gguf' });
  expect(
    view.choices.map(({ model, quantization, parts, preferred }) => [model, quantization, parts, preferred]),
  ).toEqual([
    [`${REPO}:Q8_0/m-Q8_0-00001-of-00002.gguf`, 'Q8_0', 2, false],
    [`${REPO}:m-UD-IQ2_XXS.gguf`, 'UD-IQ2_XXS', 1, false],
    [`${REPO}:m-Q4_K_M.gguf`, 'Q4_K_M', 1, true],
  ]);
  const [, half, whole] = fits;
  expect(whole?.[1]).toBeGreaterThan(0.9 * header.fileBytes);
  expect((half?.[1] ?? 0) * 2).toBeCloseTo(whole?.[1] ?? 0, -2);
  expect(new Set(fits.map(([, , full]) => full))).toEqual(new Set([20_480]));
});
