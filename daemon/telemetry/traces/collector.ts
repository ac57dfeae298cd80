/** Where traces go: what stands in the settings, read. */
export interface Collector {
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

const TRACES = '/v1/traces';
/** Headers that frame a message, which are ours to set. */
const RESERVED =
  /^(host|connection|content-(length|type|encoding)|transfer-encoding|te|trailer|upgrade|expect)$/i;

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The headers of the setting; those that frame a message and values that no header can have are left out. */
export function collectorHeaders(text: string): string[] {
  return text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    const value = decoded(pair.slice(at + 1).trim());
    return at < 1 || RESERVED.test(name) || !/^[\x20-\x7e]*$/.test(value) ? [] : [name.toLowerCase(), value];
  });
}

/** Null while no collector is named. `/v1/traces` is put behind the path, as OpenTelemetry says. */
export function collectorOf(endpoint: string, headers: string): Collector | null {
  if (endpoint === '' || !URL.canParse(endpoint)) return null;
  const { origin, pathname } = new URL(endpoint);
  return { origin, path: `${pathname.replace(/\/+$/, '')}${TRACES}`, headers: collectorHeaders(headers) };
}
