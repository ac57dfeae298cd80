import type { IncomingMessage } from 'node:http';
import { Spool } from '../../../lib/fs/spool.ts';
import { boundaryOf, dispositionOf, MultipartScanner } from '../../../lib/net/multipart.ts';
import { invalidField, Refusal } from '../refusal.ts';
import { spoolFolder } from '../spool-folder.ts';

/** Maximum bytes of a request, and of one text field. */
const MAX_REQUEST_BYTES = 200 << 20;
const MAX_FIELD_BYTES = 64 * 1024;

/** An uploaded recording. */
export interface Upload {
  readonly fields: ReadonlyMap<string, string>;
  readonly sound: Spool;
  /** As named by the sender; only used as a fallback to detect the format. */
  readonly filename: string;
  readonly type: string;
  close(): Promise<void>;
}

/** Collects the parts of the form. File bytes wait in `pending` until they are written. */
class FormReader {
  readonly fields = new Map<string, string>();
  pending: Buffer[] = [];
  filename = '';
  type = '';
  files = 0;
  readonly scanner: MultipartScanner;
  #field: { name: string; bytes: Buffer[]; length: number } | null = null;

  constructor(boundary: string) {
    this.scanner = new MultipartScanner(boundary, {
      part: (head) => this.#part(head),
      data: (bytes) => this.#data(bytes),
      end: () => this.#end(),
    });
  }

  #part(head: ReadonlyMap<string, string>): void {
    const { name, filename } = dispositionOf(head);
    this.#field = null;
    if (name !== 'file') {
      if (name !== null && filename === null) this.#field = { name, bytes: [], length: 0 };
      return;
    }
    this.files += 1;
    this.filename = filename ?? '';
    this.type = head.get('content-type') ?? '';
  }

  #data(bytes: Buffer): void {
    if (this.#field !== null) {
      this.#field.length += bytes.length;
      if (this.#field.length > MAX_FIELD_BYTES) throw invalidField(this.#field.name, 'a field is too long');
      this.#field.bytes.push(Buffer.from(bytes));
    } else if (this.files === 1) this.pending.push(bytes);
  }

  #end(): void {
    if (this.#field === null) return;
    const name = this.#field.name.replace(/\[\]$/, '');
    const value = Buffer.concat(this.#field.bytes).toString('utf8');
    // All values of a list count (OpenAI's clients write brackets after its name). For other fields, the last
    // value counts.
    const before = name === this.#field.name ? undefined : this.fields.get(name);
    const combined = before === undefined ? value : `${before},${value}`;
    if (combined.length > MAX_FIELD_BYTES) throw invalidField(name, 'a field is too long');
    this.fields.set(name, combined);
    this.#field = null;
  }
}

/**
 * Reads the form of `POST /v1/audio/transcriptions`. Writes the audio to an unnamed file, so that memory use
 * stays constant. Throws 415 for anything but a form, 422 without exactly one file, 413 beyond 200 MiB.
 */
export async function readUpload(request: IncomingMessage, folder = spoolFolder()): Promise<Upload> {
  const boundary = boundaryOf(request.headers['content-type'] ?? '');
  if (boundary === null)
    throw new Refusal('request.unsupported_type', 'This route requires multipart/form-data.', {
      status: 415,
    });
  const form = new FormReader(boundary);
  const sound = await Spool.open(folder);
  try {
    await readForm(request, form, sound);
    if (form.files !== 1) throw invalidField('file', 'file: exactly one file is needed');
  } catch (error) {
    await sound.close();
    throw error;
  }
  const { fields, filename, type } = form;
  return { fields, sound, filename, type, close: () => sound.close() };
}

/**
 * Reads to the end even after an error, so that the sender receives the response. Then throws the first
 * error.
 */
async function readForm(request: IncomingMessage, form: FormReader, sound: Spool): Promise<void> {
  let length = 0;
  let fault: unknown = null;
  const take = async (chunk: Buffer) => {
    if (length > MAX_REQUEST_BYTES)
      throw new Refusal('request.too_large', 'The body is too large.', { status: 413 });
    form.scanner.push(chunk);
    await sound.write(form.pending.splice(0));
  };
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (fault === null)
      await take(chunk as Buffer).catch((error: unknown) => {
        fault = error;
      });
  }
  if (fault !== null) throw fault;
}
