/** Routes with a JSON body that have code samples. */
export type SnippetRoute = 'chat' | 'completion' | 'embeddings' | 'rerank' | 'speech' | 'image';
