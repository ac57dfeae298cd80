import type { RequestRecord } from '../../contract/system.ts';
import type { ModelRow } from '../models.ts';

/** Returns a request as stored in the log. For tests. */
export function aRequest(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: 'r1',
    at: '2030-01-02T03:04:05.000Z',
    route: '/v1/chat/completions',
    asked: 'agent',
    model: 'demo',
    slot: 'agent',
    upstream: null,
    step: 'slot',
    tier: 'client',
    state: 'done',
    status: 200,
    duration_ms: 12.5,
    ttft_ms: 3.25,
    prompt_tokens: 7,
    completion_tokens: 5,
    error: null,
    message: null,
    reason: null,
    app: null,
    user_agent: null,
    address: 'loopback',
    ...change,
  };
}

/** Returns a model as stored in the registry. For tests. */
export function aModel(change: Partial<ModelRow> = {}): ModelRow {
  return {
    id: 'demo',
    name: 'Demo',
    type: 'llm',
    format: 'gguf',
    architecture: 'llama',
    quantization: 'Q8_0',
    size_bytes: 5_000_000_000,
    context_length: 4096,
    enable_thinking: false,
    demo: true,
    binding: 'slot:agent',
    created: 1_900_000_000,
    file: '/models/demo-1.gguf',
    files: ['/models/demo-1.gguf', '/models/demo-2.gguf'],
    repo: 'owner/name',
    sha256: 'ab',
    modalities: { input: ['text', 'image'], output: ['text'] },
    capabilities: { tools: true },
    licence: 'MIT',
    source: 'scan',
    revision: 'main',
    auto_slot: { engine: 'embedded' },
    memory: { cpu: 123 },
    header: { layers: 32 },
    ...change,
  };
}
