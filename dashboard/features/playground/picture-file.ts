/** Longest side of a picture that is sent: more tells models nothing and costs tokens. */
const MOST_SIDE = 1536;
const QUALITY = 0.85;
/** Pictures of one message. */
export const MOST_PICTURES = 4;

/**
 * A picture as the address that a chat takes, made smaller when it is larger than models look at. Throws for what the
 * browser cannot read as a picture.
 */
export async function pictureAddress(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file).catch(() => {
    throw new Error('The browser cannot read this file as a picture.');
  });
  const scale = Math.min(1, MOST_SIDE / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const pen = canvas.getContext('2d');
  if (pen === null) throw new Error('The browser cannot draw here.');
  // JPEG has no transparency: what is clear becomes white, not black.
  pen.fillStyle = 'white';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return canvas.toDataURL('image/jpeg', QUALITY);
}

/** Pictures with a key for each, which is another one for the same picture again. */
export function withKeys(addresses: readonly string[]): { key: string; address: string }[] {
  const times = new Map<string, number>();
  return addresses.map((address) => {
    const time = (times.get(address) ?? 0) + 1;
    times.set(address, time);
    return { key: `${time} ${address}`, address };
  });
}

/** What a paste brings: its files, and whether the browser has words to put in as well. */
export function pasted(board: Pick<DataTransfer, 'files' | 'getData'>): { files: File[]; words: boolean } {
  return { files: [...board.files], words: board.getData('text/plain') !== '' };
}

/** A body as it is shown as code: the bytes of pictures are left out. */
export function withoutBytes<T>(body: T): T {
  const short = (_: string, value: unknown): unknown =>
    typeof value === 'string' && value.startsWith('data:image/') ? `${value.slice(0, 40)}…` : value;
  return JSON.parse(JSON.stringify(body, short)) as T;
}
