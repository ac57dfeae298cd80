import { expect, it } from 'vitest';
import { reportedMemory } from './memory-report.ts';

/** `/system_stats` of ComfyUI 0.30, shortened. */
const stats = (...devices: object[]) =>
  JSON.stringify({ system: { os: 'linux', comfyui_version: '0.30.0', argv: ['main.py'] }, devices });
const card = (bytes: unknown) => ({
  name: 'cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync',
  type: 'cuda',
  index: 0,
  vram_total: 25_386_352_640,
  vram_free: 23_000_000_000,
  torch_vram_total: bytes,
  torch_vram_free: 100_000,
});

it.each([
  ['one card', stats(card(4_000_000_000)), 4_000_000_000],
  ['a card without models', stats(card(0)), 0],
  ['two cards', stats(card(1), card(2)), 3],
  ['a CPU, whose figures are those of the machine', stats({ ...card(24e9), type: 'cpu' }), null],
  ['no device', stats(), null],
  ['another form', stats(card('4 GB')), null],
  ['no JSON', '<html>', null],
])('ComfyUI with %s', (_, body, bytes) => expect(reportedMemory('comfyui', body)).toBe(bytes));
