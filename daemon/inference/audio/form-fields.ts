import { GatewayError } from '../../contract/errors.ts';
import { boundaryOf, dispositionOf, MultipartScanner } from '../../lib/net/multipart.ts';
import { invalid } from '../rewrite/body-index.ts';

const MAX_VALUE_BYTES = 512;

/** The fields of a transcription that the gateway reads. */
const FIELD_NAMES = ['model', 'stream'] as const;
type FieldName = (typeof FIELD_NAMES)[number];

const fieldNameOf = (name: string | null): FieldName | null =>
  FIELD_NAMES.find((each) => each === name) ?? null;

/**
 * Reads `model` and `stream` of a multipart form while its bytes are received
 * (docs/spec/specification.md#transcriptions-raw). Only a part whose own header names the field counts, never
 * text inside another part. Nothing else is stored.
 */
export class FormFields {
  readonly #values: Record<FieldName, string[]> = { model: [], stream: [] };
  readonly #scanner: MultipartScanner;
  #open: { name: FieldName; bytes: Buffer[]; length: number } | null = null;

  /**
   * Throws `request.unsupported_type` (415) for anything but multipart/form-data, and `request.missing_model`
   * (400, docs/spec/contract.md#multipart-boundary) for a form without a boundary.
   */
  constructor(contentType: string) {
    const boundary = boundaryOf(contentType);
    if (boundary === null) throw isForm(contentType) ? noBoundary() : noForm();
    this.#scanner = new MultipartScanner(boundary, {
      part: (head) => {
        const name = fieldNameOf(dispositionOf(head).name);
        this.#open = name === null ? null : { name, bytes: [], length: 0 };
      },
      data: (bytes) => this.#keep(bytes),
      end: () => this.#close(),
    });
  }

  push(chunk: Buffer): void {
    this.#scanner.push(chunk);
  }

  /** The model; null when missing or blank. Throws `request.invalid` for two different models. */
  get model(): string | null {
    const values = new Set(this.#values.model);
    if (values.size > 1) throw invalid('model', 'must be given once');
    return this.#values.model[0] || null;
  }

  get stream(): boolean {
    return /^(true|1)$/i.test(this.#values.stream.at(-1) ?? '');
  }

  #keep(bytes: Buffer): void {
    if (this.#open === null || this.#open.length >= MAX_VALUE_BYTES) return;
    const part = bytes.subarray(0, MAX_VALUE_BYTES - this.#open.length);
    this.#open.bytes.push(Buffer.from(part));
    this.#open.length += part.length;
  }

  #close(): void {
    if (this.#open === null) return;
    const { name, bytes } = this.#open;
    // Three values are enough to detect a duplicate field.
    if (this.#values[name].length < 3) this.#values[name].push(Buffer.concat(bytes).toString('utf8').trim());
    this.#open = null;
  }
}

const isForm = (contentType: string): boolean => /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType);

const noForm = () =>
  new GatewayError('request.unsupported_type', { message: 'This route requires multipart/form-data.' });

const noBoundary = () =>
  new GatewayError('request.missing_model', {
    message:
      'The field model cannot be read: the Content-Type has no valid boundary (RFC 2046: 1 to 70 characters).',
    param: 'model',
  });
