/** Maximum side of a sent image: more pixels cost tokens without benefit. */
const MAX_SIDE_PX = 1536;
const QUALITY = 0.85;
/** Maximum number of images in one message. */
export const MAX_IMAGES = 4;

/**
 * Returns an image as a data URL for a chat request, scaled down to the maximum side. Throws when the browser cannot decode
 * the file.
 */
export async function pictureAddress(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file).catch(() => {
    throw new Error('The browser cannot read this image file.');
  });
  const scale = Math.min(1, MAX_SIDE_PX / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const pen = canvas.getContext('2d');
  if (pen === null) throw new Error('The browser cannot process images.');
  // JPEG has no transparency: paint the background white, not black.
  pen.fillStyle = 'white';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return canvas.toDataURL('image/jpeg', QUALITY);
}

/** Adds a unique key to each image, also when an image repeats. */
export function withKeys(addresses: readonly string[]): { key: string; address: string }[] {
  const times = new Map<string, number>();
  return addresses.map((address) => {
    const time = (times.get(address) ?? 0) + 1;
    times.set(address, time);
    return { key: `${time} ${address}`, address };
  });
}

/** The files of a paste, and whether it also contains text. */
export function pasted(board: Pick<DataTransfer, 'files' | 'getData'>): { files: File[]; words: boolean } {
  return { files: [...board.files], words: board.getData('text/plain') !== '' };
}

/** Shortens image data URLs in a body that is shown as code. */
export function withoutBytes<T>(body: T): T {
  const short = (_: string, value: unknown): unknown =>
    typeof value === 'string' && value.startsWith('data:image/') ? `${value.slice(0, 40)}…` : value;
  return JSON.parse(JSON.stringify(body, short)) as T;
}
