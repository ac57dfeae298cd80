const PART = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const HOST = '(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\\d{1,5})?/)?';
const NAME = new RegExp(`^${HOST}${PART}(?:/${PART})*(?::\\w[\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`, 'i');
const MAX_CHARACTERS = 512;

/** Returns what is wrong with an image name, or null if it is valid. */
export function imageNameError(name: string): string | null {
  if (name.length <= MAX_CHARACTERS && NAME.test(name)) return null;
  return 'must be the name of an image, such as ghcr.io/owner/name:tag';
}

/** Returns the name with its tag. A name without a tag or digest gets `latest`. The API would pull every tag. */
export function fullImageName(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? name : `${name}:latest`;
}
