"""What `/openapi.json` says of the routes whose bodies are read by hand.

Contract
--------
`decision`, `models`, `enveloped`, `arrays` and `feedback` are keyword arguments of FastAPI's route decorators. They
describe; nothing here validates (`model.questions` does).
"""

from __future__ import annotations

from typing import Any

_ANY_TEXT: dict[str, Any] = {"description": "text, an object or a list", "type": ["string", "object", "array"]}
_SAID: dict[str, Any] = {**_ANY_TEXT, "type": ["string", "object", "array", "null"]}
_SHARE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
_TOKENS: dict[str, Any] = {"type": "integer", "minimum": 0}


def _object(properties: dict[str, Any], *, required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties) if required is None else required}


def _const(text: str) -> dict[str, Any]:
    return {"type": "string", "const": text}


_QUESTION: dict[str, Any] = {
    "oneOf": [
        _object(
            {
                "type": _const("noul"),
                "instructions": _SAID,
                "criteria": {
                    "type": ["object", "null"],
                    "properties": {"true": _SAID, "false": _SAID},
                    "additionalProperties": False,
                },
            },
            required=["type"],
        ),
        _object(
            {
                "type": _const("choice"),
                "instructions": _SAID,
                "criteria": {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 255,
                    "propertyNames": {"minLength": 1},
                    "additionalProperties": _SAID,
                },
            },
            required=["type", "criteria"],
        ),
        _object(
            {
                "type": _const("score"),
                "instructions": _SAID,
                "criteria": {"type": "array", "minItems": 1, "maxItems": 10, "items": _ANY_TEXT},
            },
            required=["type", "criteria"],
        ),
    ]
}
_IMAGE: dict[str, Any] = {
    "oneOf": [{"type": "string"}, _object({"content_type": {"type": "string"}, "base64": {"type": "string"}})],
    "description": "a data URL, base64, or an object with base64",
}
_ASSET: dict[str, Any] = _object(
    {
        "type": _const("image"),
        "format": {"type": "string"},
        "data_base64": {"type": "string"},
        "part": {"type": "string", "description": "name of a part of the multipart body"},
    },
    required=["type"],
)
_REQUEST: dict[str, Any] = _object(
    {
        "model": {"type": "string", "default": "jev-latest"},
        "state": {"type": ["string", "object", "array"]},
        "questions": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 64,
            "propertyNames": {"minLength": 1, "maxLength": 256},
            "additionalProperties": _QUESTION,
        },
        "images": {"type": ["array", "null"], "maxItems": 4, "items": _IMAGE},
        "assets": {"type": ["object", "null"], "additionalProperties": _ASSET},
        "x_truncate": {"type": "boolean", "description": "cut a state that is too long instead of refusing it"},
    },
    required=["model", "state", "questions"],
)
_PROBABILITIES: dict[str, Any] = {"type": "object", "minProperties": 1, "additionalProperties": _SHARE}
_ANSWER: dict[str, Any] = {
    "oneOf": [
        _object({"type": _const("noul"), "noul": _SHARE}),
        _object(
            {
                "type": _const("choice"),
                "choice": {"type": "string"},
                "confidence": _SHARE,
                "probabilities": _PROBABILITIES,
            }
        ),
        _object(
            {
                "type": _const("score"),
                "score": {"type": "number", "minimum": 0},
                "confidence": _SHARE,
                "legend": {"type": "object", "additionalProperties": _ANY_TEXT},
                "probabilities": _PROBABILITIES,
            }
        ),
    ]
}
_OUTCOME: dict[str, Any] = {"enum": ["act", "ask", "refuse"], "description": "what the policy in force says"}
_REPLY: dict[str, Any] = _object(
    {
        "model": {"type": "string"},
        "answers": {"type": "object", "additionalProperties": _ANSWER},
        "usage": _object({"input_tokens": _TOKENS, "output_tokens": _TOKENS}),
        "x_truncated": _object({"tokens": _TOKENS, "state_tokens": _TOKENS, "from_character": _TOKENS}),
        "x_picture_words": {"type": "array", "items": {"type": "string"}},
        "x_policy": {"type": "object", "additionalProperties": _OUTCOME},
        "x_decision_id": {"type": "string", "format": "uuid"},
    },
    required=["model", "answers", "usage"],
)
_FIELDS: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "items": _object(
        {
            "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
            "msg": {"type": "string"},
            "type": {"type": "string"},
        }
    ),
}
_REASON: dict[str, Any] = _object({"error_type": {"type": "string"}, "message": {"type": "string"}})
_LISTED: dict[str, Any] = _object(
    {"name": {"type": "string"}, "description": {"type": "string"}, "release_date": {"type": "string"}}
)
_ENVELOPE_ERROR: dict[str, Any] = _object({"code": {"type": "integer"}, "message": {"type": "string"}})
_OPENAI_ERROR: dict[str, Any] = _object(
    {
        "error": _object(
            {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            }
        )
    }
)
_ARRAYS_REQUEST: dict[str, Any] = _object(
    {
        "model": {"type": "string", "default": "gpt-6-luna"},
        "input": {"type": ["string", "array"]},
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": 64,
            "items": _object(
                {
                    "type": {"enum": ["predicate", "choice", "score"]},
                    "name": {"type": ["string", "null"]},
                    "instructions": {"type": ["string", "array"]},
                    "choices": {
                        "type": "array",
                        "items": _object(
                            {"value": {"type": ["string", "boolean"]}, "description": {"type": "string"}},
                            required=["value"],
                        ),
                    },
                    "levels": {
                        "type": "array",
                        "items": _object(
                            {"label": {"type": "string"}, "description": {"type": "string"}}, required=["label"]
                        ),
                    },
                },
                required=["type"],
            ),
        },
    }
)
_ARRAYS_REPLY: dict[str, Any] = _object(
    {
        "model": {"type": "string"},
        "answers": {
            "type": "array",
            "items": _object({"type": {"type": "string"}, "name": {"type": ["string", "null"]}}),
        },
        "usage": {"type": "object"},
        "x_policy": {"type": "array", "items": {"enum": ["act", "ask", "refuse", None]}},
        "x_decision_id": {"type": "string", "format": "uuid"},
    },
    required=["model", "answers", "usage"],
)


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _route(request: dict[str, Any], reply: dict[str, Any], invalid: dict[str, Any], refused: dict[str, Any]) -> Any:
    content = {"application/json": {"schema": request}}
    refusals = {
        status: _json(description, refused)
        for status, description in {
            400: "An unknown model, a damaged body, or an asset that fits nowhere",
            401: "No API key, or a wrong one",
            403: "A request from another site",
            408: "The body did not arrive in time",
            413: "The body is too large",
            415: "An encoding or media type that is not taken",
            503: "The studio is ending",
            529: "The scorer is loading, or too many requests wait",
        }.items()
    }
    return {
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
        "responses": {200: _json("The decision", reply), **refusals, 422: _json("What is wrong, by field", invalid)},
    }


_DETAIL = _object({"detail": _REASON})
_ENVELOPE = _object(
    {"result": _REPLY, "success": {"const": True}, "errors": {"type": "array"}, "messages": {"type": "array"}}
)
_ENVELOPE_REFUSED = _object(
    {
        "result": {"type": "null"},
        "success": {"const": False},
        "errors": {"type": "array", "minItems": 1, "items": _ENVELOPE_ERROR},
        "messages": {"type": "array"},
    }
)

decision: Any = _route(_REQUEST, _REPLY, _object({"detail": _FIELDS}), _DETAIL)
enveloped: Any = _route(
    {**_REQUEST, "required": ["state", "questions"]}, _ENVELOPE, _ENVELOPE_REFUSED, _ENVELOPE_REFUSED
)
arrays: Any = _route(_ARRAYS_REQUEST, _ARRAYS_REPLY, _OPENAI_ERROR, _OPENAI_ERROR)
models: Any = {
    "responses": {
        200: _json("The scorer and its names", _object({"models": {"type": "array", "minItems": 1, "items": _LISTED}})),
        401: _json("No API key, or a wrong one", _DETAIL),
        403: _json("A request from another site", _DETAIL),
        529: _json("The scorer is loading", _DETAIL),
    }
}
_FEEDBACK: dict[str, Any] = _object(
    {
        "decision_id": {"type": "string"},
        "question": {"type": "string"},
        "true_answer": {"type": ["string", "integer", "boolean"]},
        "verdict": {"enum": ["right", "wrong", "cant_tell"]},
        "note": {"type": "string"},
        "labeller": {"type": "string"},
        "key": {"type": "string", "description": "the same label under the same key is kept once"},
    },
    required=["decision_id", "question"],
)
_LABEL: dict[str, Any] = _object(
    {
        "label_id": {"type": "string"},
        "decision_id": {"type": "string"},
        "question": {"type": "string"},
        "verdict": {"type": "string"},
        "true_answer": {"type": ["string", "null"]},
        "supersedes": {"type": ["string", "null"]},
    }
)
feedback: Any = _route(_FEEDBACK, _LABEL, _object({"detail": _FIELDS}), _DETAIL)
feedback["responses"] |= {
    404: _json("No such decision", _DETAIL),
    409: _json("Another label under the same key", _DETAIL),
}
