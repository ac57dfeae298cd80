import { describe, expect, it } from 'vitest';
import { specFindings } from './spec-anchors.ts';

const CONTRACT = {
  path: 'docs/spec/contract.md',
  text: '<a id="caps"></a>\n## Caps\n\n- <a id="queue"></a>One queue, see [Caps](#caps).',
};
const findingsOf = (text: string, path = 'daemon/a.ts') => specFindings([CONTRACT, { path, text }]);

describe('citations of the specification', () => {
  it('an existing anchor is not a finding, in code, tests and pages', () => {
    expect(findingsOf('/** Caps (docs/spec/contract.md#caps, docs/spec/contract.md#queue). */')).toEqual([]);
    expect(findingsOf('See [Caps](spec/contract.md#caps).', 'docs/core.md')).toEqual([]);
    expect(findingsOf('See docs/spec/contract.md.')).toEqual([]);
  });

  it.each([
    ['an unknown anchor', 'docs/spec/contract.md#hats', 'docs/spec/contract.md#hats does not exist'],
    ['an anchor of another page', 'docs/spec/other.md#caps', 'docs/spec/other.md#caps does not exist'],
    ['an empty anchor', 'docs/spec/contract.md#', 'docs/spec/contract.md# does not exist'],
  ])('%s is reported with its line', (_name, citation, reason) => {
    expect(findingsOf(`\n// ${citation}`)).toEqual([`daemon/a.ts:2: ${reason}`]);
  });

  it('a broken link between the pages is reported', () => {
    const page = {
      path: 'docs/spec/specification.md',
      text: '[a](contract.md#caps) [b](contract.md#no) [c](#no)',
    };
    expect(specFindings([CONTRACT, page])).toEqual([
      'docs/spec/specification.md:1: docs/spec/contract.md#no does not exist',
      'docs/spec/specification.md:1: docs/spec/specification.md#no does not exist',
    ]);
  });

  it('an anchor that one page defines twice is reported; two pages may share a name', () => {
    const twice = { path: 'docs/spec/contract.md', text: '<a id="caps"></a>\n<a id="caps"></a>' };
    const other = { path: 'docs/spec/specification.md', text: '<a id="caps"></a>' };
    expect(specFindings([twice, other])).toEqual(['docs/spec/contract.md:2: anchor "caps" is defined twice']);
  });
});

describe('citations in prose', () => {
  it.each([
    '(spec "Slots")',
    '/** Contract "Caps" */',
    '(contract: "Caps")',
    'contract section 7',
    'section 3 of the specification',
    'the order of the spec',
    "the spec's ERROR",
    "the contract's 600 s",
    'the shape of the contract',
  ])('%s is reported', (text) => {
    expect(findingsOf(text)).toEqual([
      expect.stringMatching(/^daemon\/a\.ts:1: cite an anchor of docs\/spec\//),
    ]);
  });

  it.each([
    "import { ROUTES } from '../contract/routes.ts';",
    'PNG specification section 5.4',
    'RFC 9110 section 10.1.1',
    'the attributes of the specification',
    'A row in `e2e/views.spec.ts`',
  ])('%s is not a finding', (text) => {
    expect(findingsOf(text)).toEqual([]);
  });

  it('pages of the specification may write about themselves', () => {
    expect(specFindings([{ path: 'docs/spec/specification.md', text: 'a part of the contract' }])).toEqual(
      [],
    );
  });
});
