const PART = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const HOST = '(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\\d{1,5})?/)?';
const NAME = new RegExp(`^${HOST}${PART}(?:/${PART})*(?::\\w[\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`, 'i');
const MAX_CHARACTERS = 512;

/** What is wrong with the name of an image; null when it can be one. */
export function imageNameError(name: string): string | null {
  if (name.length <= MAX_CHARACTERS && NAME.test(name)) return null;
  return 'must be the name of an image, such as ghcr.io/owner/name:tag';
}

/** The name with its tag: one without a tag or digest means `latest`, never "every tag there is" as the API has it. */
export function fullImageName(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? name : `${name}:latest`;
}
