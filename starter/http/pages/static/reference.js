// Shows the OpenAPI document with Swagger UI, which asks no validator elsewhere.
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#reference", deepLinking: true, validatorUrl: null });
