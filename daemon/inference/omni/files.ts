import { asList, asObject, type Json } from '../dialects/json.ts';

/** An audio or image file for tools; the model refers to it by `id`. */
export interface OmniFile {
  readonly id: string;
  readonly kind: 'audio' | 'image';
  /** Media type, or the format that a caller named. */
  readonly type: string;
  readonly bytes: Buffer;
}

const MAX_FILES = 64;
const DATA_URL = /^data:(image\/[a-z0-9.+-]+);base64,/i;

/**
 * The files of one call: from the caller's messages, and from tools. Never follows URLs: only embedded data
 * is a file.
 */
export class OmniFiles {
  readonly #files = new Map<string, OmniFile>();

  of(kind: OmniFile['kind']): OmniFile[] {
    return [...this.#files.values()].filter((file) => file.kind === kind);
  }

  get(id: string, kind: OmniFile['kind']): OmniFile | null {
    const file = this.#files.get(id);
    return file?.kind === kind ? file : null;
  }

  /** Returns null when there are too many files. */
  add(kind: OmniFile['kind'], type: string, bytes: Buffer): OmniFile | null {
    if (this.#files.size >= MAX_FILES) return null;
    const file = { id: `${kind}_${this.of(kind).length + 1}`, kind, type, bytes };
    this.#files.set(file.id, file);
    return file;
  }

  /**
   * Extracts the files of the given kinds from the messages and replaces each with a text that contains its
   * id.
   */
  extract(messages: readonly Json[], kinds: ReadonlySet<OmniFile['kind']>): Json[] {
    return messages.map((message) =>
      Array.isArray(message.content)
        ? { ...message, content: message.content.map((part) => this.#extractPart(part, kinds)) }
        : message,
    );
  }

  #extractPart(value: unknown, kinds: ReadonlySet<OmniFile['kind']>): unknown {
    const part = asObject(value);
    const sound = part?.type === 'input_audio' ? asObject(part.input_audio) : undefined;
    const imageUrl = part?.type === 'image_url' ? asObject(part.image_url)?.url : undefined;
    let file: OmniFile | null = null;
    if (kinds.has('audio') && typeof sound?.data === 'string')
      file = this.add('audio', String(sound.format ?? 'wav'), Buffer.from(sound.data, 'base64'));
    const image = typeof imageUrl === 'string' ? DATA_URL.exec(imageUrl) : null;
    if (kinds.has('image') && image && typeof imageUrl === 'string')
      file = this.add('image', image[1] ?? '', Buffer.from(imageUrl.slice(image[0].length), 'base64'));
    return file === null ? value : { type: 'text', text: `[${file.id}]` };
  }
}

/** Returns whether any message contains audio or an image. */
export const holdsFiles = (messages: readonly Json[], type: 'input_audio' | 'image_url'): boolean =>
  messages.some(({ content }) => asList(content).some((part) => asObject(part)?.type === type));
