/** The destination of traces, parsed from the settings. */
export interface Collector {
  readonly origin: string;
  readonly path: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
}

const TRACES = '/v1/traces';
/** Headers that frame a message; only the gateway sets them. */
const RESERVED =
  /^(host|connection|content-(length|type|encoding)|transfer-encoding|te|trailer|upgrade|expect)$/i;

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Parses the headers of the setting. Skips framing headers and invalid values. */
export function collectorHeaders(text: string): string[] {
  return text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    const value = decoded(pair.slice(at + 1).trim());
    return at < 1 || RESERVED.test(name) || !/^[\x20-\x7e]*$/.test(value) ? [] : [name.toLowerCase(), value];
  });
}

/** Returns null without a collector. Appends `/v1/traces` to the path, as OpenTelemetry specifies. */
export function collectorOf(endpoint: string, headers: string): Collector | null {
  if (endpoint === '' || !URL.canParse(endpoint)) return null;
  const { origin, pathname } = new URL(endpoint);
  return { origin, path: `${pathname.replace(/\/+$/, '')}${TRACES}`, headers: collectorHeaders(headers) };
}
