import { drawnPng } from './drawn-png.ts';
import { json, type StandIn, standIn } from './stand-in.ts';

interface SdJob {
  readonly status: () => string;
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  readonly batch_count: number;
}

export interface SdStandIn extends StandIn {
  readonly cancelled: string[];
  /** False: an older version that has only the OpenAI-style route. */
  jobs: boolean;
  /** True: a job that is being drawn cannot be cancelled, as in the real server. */
  refusesCancel: boolean;
  /** True: a cancellation gets no answer, as from a server that is busy. */
  ignoresCancel: boolean;
  /** Ends the drawings with HANG in their prompt that have begun. */
  finish(): void;
}

const imageOf = (job: Pick<SdJob, 'width' | 'height' | 'seed'>, index: number) => ({
  b64_json: drawnPng({ ...job, seed: job.seed + index }).toString('base64'),
});

const EXTRA_ARGS = /<sd_cpp_extra_args>(.*?)<\/sd_cpp_extra_args>/;

/** A STAND-IN for stable-diffusion.cpp's server: native jobs and the OpenAI-style route, real PNGs that depend on the seed. */
export async function sdStandIn(): Promise<SdStandIn> {
  const jobs = new Map<string, SdJob>();
  const cancelled: string[] = [];
  const finished = new Set<string>();
  const unanswered: (() => void)[] = [];
  const server = await standIn(({ method, url, body }) => {
    const [, id = '', verb] = /^\/sdcpp\/v1\/jobs\/([^/]+)(\/cancel)?$/.exec(url) ?? [];
    if (url === '/v1/models') return json(200, { data: [{ id: 'sd-cpp-local' }] });
    if (url === '/v1/images/generations') return openai(JSON.parse(body));
    if (!sd.jobs) return json(404, { error: 'Not Found' });
    if (url === '/sdcpp/v1/img_gen' && method === 'POST') return submit(JSON.parse(body));
    const job = jobs.get(id);
    if (job === undefined) return json(404, { error: 'job not found' });
    if (verb !== undefined && sd.ignoresCancel) return (_, res) => void res.destroy();
    // The real server cancels queued jobs only.
    if (verb !== undefined && sd.refusesCancel && job.status() === 'generating')
      return json(409, { error: 'job is generating and cannot be interrupted yet' });
    if (verb !== undefined) cancelled.push(id);
    const status = cancelled.includes(id) ? 'cancelled' : job.status();
    const images = Array.from({ length: job.batch_count }, (_, index) => ({ index, ...imageOf(job, index) }));
    const result = status === 'completed' ? { output_format: 'png', images } : null;
    const error = status === 'failed' ? { code: 'generation_failed', message: 'bad /models/x.gguf' } : null;
    return json(200, { id, kind: 'img_gen', status, queue_position: 0, result, error });
  });
  const submit = (request: SdJob & { prompt: string }) => {
    if (request.prompt.includes('FULL')) return json(429, { error: 'job queue is full' });
    if (request.prompt.includes('REFUSE'))
      return json(400, { error: 'cannot open /models/secret.safetensors' });
    const id = `job_${jobs.size + 1}`;
    let polls = 0;
    const last = request.prompt.includes('FAIL') ? 'failed' : 'completed';
    const status = () => {
      if (request.prompt.includes('HANG') && !finished.has(id)) return 'generating';
      return ['queued', 'generating'][polls++] ?? last;
    };
    jobs.set(id, { ...request, status });
    return json(202, { id, kind: 'img_gen', status: 'queued', poll_url: `/sdcpp/v1/jobs/${id}` });
  };
  const openai = ({ prompt, n, size }: { prompt: string; n: number; size: string }) => {
    const [width, height] = size.split('x').map(Number) as [number, number];
    const extraArgs = JSON.parse(EXTRA_ARGS.exec(prompt)?.[1] ?? '{}') as { seed?: number };
    const data = Array.from({ length: n }, (_, at) =>
      imageOf({ width, height, seed: extraArgs.seed ?? 42 }, at),
    );
    const respond = json(200, { created: 1, output_format: 'png', data });
    if (!prompt.includes('HANG')) return respond;
    return (...exchange: Parameters<typeof respond>) => void unanswered.push(() => respond(...exchange));
  };
  const sd: SdStandIn = Object.assign(server, {
    ...{ jobs: true, refusesCancel: false, ignoresCancel: false, cancelled },
    finish: () => {
      for (const id of jobs.keys()) finished.add(id);
      for (const respond of unanswered.splice(0)) respond();
    },
  });
  return sd;
}

/** The slot file of an attached image slot that is loaded on demand. */
export const sdSlot = (url: string): string =>
  `type = "image"\nengine = "sd-server"\nrunner = "attach"\nurl = "${url}"\nautoload = false\nmodel = "v1-5-pruned-emaonly"\n`;
