import { z } from 'zod';
import { json, type StandIn, standIn } from './stand-in.ts';

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const nanos = z.string().regex(/^[1-9]\d{18}$/);
const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string().max(256) }),
    z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
    z.strictObject({ doubleValue: z.number() }),
    z.strictObject({ boolValue: z.boolean() }),
  ]),
});
const span = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes: z.array(attribute),
    status: z.strictObject({ code: z.number().int().min(0).max(2) }),
  })
  .refine((each) => BigInt(each.endTimeUnixNano) >= BigInt(each.startTimeUnixNano), 'ends before it starts');

/** ExportTraceServiceRequest of OTLP 1 in JSON, limited to the parts that we send: an unknown name is rejected. */
export const ExportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute) }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(span).min(1),
        }),
      ),
    }),
  ),
});
export type ReceivedSpan = z.infer<typeof span>;

export interface Collector {
  readonly server: StandIn;
  /** All spans received so far. */
  spans(): ReceivedSpan[];
  /** The spans of one trace by their names. */
  trace(traceId: string): Map<string, ReceivedSpan>;
}

/** A stand-in for an OpenTelemetry collector: accepts what the protocol allows, answers 400 to everything else. */
export async function otlpCollector(): Promise<Collector> {
  const received: ReceivedSpan[] = [];
  const server = await standIn(({ method, url, headers, body }) => {
    const isTracesRoute = method === 'POST' && url === '/v1/traces';
    if (!isTracesRoute || headers['content-type'] !== 'application/json') return json(404, {});
    const parsed = ExportRequest.safeParse(JSON.parse(body));
    if (!parsed.success) return json(400, { message: z.prettifyError(parsed.error) });
    for (const { scopeSpans } of parsed.data.resourceSpans)
      for (const { spans } of scopeSpans) received.push(...spans);
    return json(200, { partialSuccess: {} });
  });
  return {
    server,
    spans: () => received,
    trace: (id) => new Map(received.filter(({ traceId }) => traceId === id).map((each) => [each.name, each])),
  };
}

/** Returns the value of an attribute, or undefined. */
export function attributeOf({ attributes }: ReceivedSpan, key: string): unknown {
  const found = attributes.find((each) => each.key === key);
  return found === undefined ? undefined : Object.values(found.value)[0];
}
