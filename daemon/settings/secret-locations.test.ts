import { expect, test } from 'vitest';
import { memorySettings } from '../auth/testing.ts';
import type { SettingName } from './catalogue.ts';
import { secretRedirectReason } from './secret-locations.ts';

const HUB = 'https://hub.lan/base';
const COLLECTOR = 'http://collector.lan:4318';
const settings = memorySettings(
  { hubUrl: HUB, otlpEndpoint: COLLECTOR },
  { hubToken: 't', otlpHeaders: 'a=b' },
);

test.each<[SettingName, string]>([
  ['hubUrl', 'https://other.lan/base'],
  ['hubUrl', 'http://hub.lan/base'],
  ['hubUrl', 'https://hub.lan:444/base'],
  ['hubUrl', 'https://huggingface.co'],
  ['otlpEndpoint', 'http://other.lan:4318'],
])('%s may not become %s', (name, value) => {
  const bare = memorySettings({ hubUrl: HUB, otlpEndpoint: COLLECTOR });
  expect(secretRedirectReason(settings, name, value)).toMatch(
    /^would send (HF_TOKEN|OTEL_\w+_HEADERS) to another host/,
  );
  expect(secretRedirectReason(bare, name, value)).toBeNull();
});

test.each<[SettingName, unknown]>([
  ['hubUrl', HUB],
  ['hubUrl', 'https://HUB.lan:443/other'],
  ['otlpEndpoint', ''],
  ['otlpEndpoint', `${COLLECTOR}/v2`],
  ['queueMax', 5],
])('%s may become %s', (name, value) => expect(secretRedirectReason(settings, name, value)).toBeNull());

test('a new collector does not receive headers that were set before it', () => {
  const off = memorySettings({}, { otlpHeaders: 'a=b' });
  expect(secretRedirectReason(off, 'otlpEndpoint', COLLECTOR)).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
});
