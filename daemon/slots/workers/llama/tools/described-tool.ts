import { isSchema } from '../json/schema-shape.ts';
import { type Tool, wholeTool } from './tool-choice.ts';

/**
 * Returns the tool with an empty description for each parameter that has none. The templates of Hermes 2 Pro
 * and 3 fail without one.
 */
export function describedTool(tool: Tool): Tool {
  const whole = wholeTool(tool);
  const { parameters } = whole.function;
  if (!isSchema(parameters) || !isSchema(parameters.properties)) return whole;
  const properties = Object.entries(parameters.properties).map(([name, schema]) => [
    name,
    isSchema(schema) ? { description: '', ...schema } : schema,
  ]);
  return {
    ...whole,
    function: {
      ...whole.function,
      parameters: { ...parameters, properties: Object.fromEntries(properties) },
    },
  };
}
